"""Completion scripts for bash, zsh and fish, generated from the grammar. They get ids and names from
:mod:`runwatch.commands.completion_names`.
"""

from __future__ import annotations

from typing import Final

from runwatch.commands import COMPLETE
from runwatch.commands.cli.command_spec import CONSOLE, CommandSpec
from runwatch.commands.cli.grammar import all_options, group_summary, list_commands
from runwatch.commands.cli.invocation import Invocation


def print_script(call: Invocation) -> int:
    """``completion``: print the script for one shell."""
    call.output.text(SCRIPTS[call.options.shell]())
    return 0


def _nodes() -> dict[tuple[str, ...], dict[str, str]]:
    """Return every incomplete path of words with the possible next words and their summaries."""
    nodes: dict[tuple[str, ...], dict[str, str]] = {}
    for verb in list_commands():
        for depth in range(len(verb.path)):
            path, word = verb.path[:depth], verb.path[depth]
            is_last = depth + 1 == len(verb.path)
            nodes.setdefault(path, {})[word] = verb.summary if is_last else group_summary((*path, word))
    return nodes


def _flag_words(verb: CommandSpec | None) -> dict[str, str]:
    flags = {flag.name: flag.help for flag in (CONSOLE if verb is None else verb.flags) if not flag.hidden}
    extra = {"--help": "show help"} if verb else {"--version": "print the version", "--help": "show help"}
    return {**flags, **extra}


def _offers() -> dict[str, dict[str, str]]:
    """Return what may follow each path of words: next words, choices of arguments, and options."""
    offers: dict[str, dict[str, str]] = {}
    for path, words in _nodes().items():
        offers[" ".join(path)] = words if path else {**words, **_flag_words(None)}
    for verb in list_commands():
        choices = {choice: argument.help for argument in verb.arguments for choice in argument.choices}
        offers[verb.name] = {**choices, **_flag_words(verb)}
    return offers


def _values() -> dict[str, tuple[str, ...]]:
    """Return the accepted values of each option with fixed choices."""
    return {flag.name: flag.choices for verb in list_commands() for flag in verb.flags if flag.choices}


def _valued() -> list[str]:
    return sorted(flag.name for flag in all_options().values() if flag.metavar and not flag.hidden)


def _named_flags() -> list[str]:
    """Return the options whose values are completed with names."""
    every = (CONSOLE, *(verb.flags for verb in list_commands()))
    return sorted({flag.name for flags in every for flag in flags if flag.names})


def _named_verbs() -> list[str]:
    """Return the commands whose arguments are completed with names."""
    return [verb.name for verb in list_commands() if any(argument.names for argument in verb.arguments)]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _bash() -> str:
    words = "\n".join(
        f"        {_quoted(path)}) words={_quoted(' '.join(offer))} ;;" for path, offer in _offers().items()
    )
    values = "\n".join(f"        {flag}) words={_quoted(' '.join(choices))} ;;" for flag, choices in _values().items())
    groups = " | ".join(_quoted(" ".join(path)) for path in _nodes())
    return f"""\
# bash completion of runwatch; load it with: source <(runwatch completion bash)
_runwatch() {{
    local path= word words= skip= ask= index
    for ((index = 1; index < COMP_CWORD; index++)); do
        word=${{COMP_WORDS[index]}}
        if [[ -n $skip ]]; then skip=; continue; fi
        case $word in
        {" | ".join(_valued())}) skip=1 ;;
        -*) ;;
        *)
            case $path in
            {groups}) path="${{path:+$path }}$word" ;;
            esac ;;
        esac
    done
    case ${{COMP_WORDS[COMP_CWORD - 1]}} in
{values}
        {" | ".join(_named_flags())}) ask=1 ;;
        *)
            if [[ -z $skip ]]; then
                case $path in
{words}
                esac
                case $path in
                {" | ".join(map(_quoted, _named_verbs()))}) ask=1 ;;
                esac
            fi ;;
    esac
    COMPREPLY=()
    if [[ -n $words ]]; then
        COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
    fi
    if [[ -n $ask && ${{COMP_WORDS[COMP_CWORD]}} != -* ]]; then
        # A name is never expanded here, and what readline inserts is quoted.
        while IFS= read -r word; do
            if [[ -z ${{COMP_WORDS[COMP_CWORD]}} || $word == "${{COMP_WORDS[COMP_CWORD]}}"* ]]; then
                printf -v word %q "$word"
                COMPREPLY+=("$word")
            fi
        done < <("${{COMP_WORDS[0]}}" {COMPLETE} "${{COMP_WORDS[@]:1:COMP_CWORD}}" 2>/dev/null)
    fi
}}
# Without a word of its own readline completes the names of files, and quotes them.
complete -o default -F _runwatch runwatch
"""


def _zsh() -> str:
    def described(offer: dict[str, str]) -> str:
        return " ".join(_quoted(word.replace(":", "\\:") + ":" + text) for word, text in offer.items())

    offers = "\n".join(f"        {_quoted(path)}) offers=({described(offer)}) ;;" for path, offer in _offers().items())
    values = "\n".join(
        f"        {flag}) compadd -- {' '.join(choices)}; return ;;" for flag, choices in _values().items()
    )
    groups = " | ".join(_quoted(" ".join(path)) for path in _nodes())
    return f"""\
#compdef runwatch
# zsh completion of runwatch; put it into a directory of $fpath as _runwatch, or: source <(runwatch completion zsh)
_runwatch() {{
    local path_words= word skip= index
    local -a offers names
    for ((index = 2; index < CURRENT; index++)); do
        word=$words[index]
        if [[ -n $skip ]]; then skip=; continue; fi
        case $word in
        ({" | ".join(_valued())}) skip=1 ;;
        (-*) ;;
        (*)
            case $path_words in
            ({groups}) path_words="${{path_words:+$path_words }}$word" ;;
            esac ;;
        esac
    done
    case $words[CURRENT-1] in
{values}
        ({" | ".join(_named_flags())}) _runwatch_names; compadd -a names; return ;;
    esac
    if [[ -n $skip ]]; then _files; return; fi
    case $path_words in
{offers}
    esac
    case $path_words in
        ({" | ".join(map(_quoted, _named_verbs()))}) [[ $words[CURRENT] = -* ]] || _runwatch_names ;;
    esac
    (( ! $#names )) || compadd -a names
    _describe 'runwatch' offers || (( $#names )) || _files
}}
_runwatch_names() {{
    names=(${{(f)"$("$words[1]" {COMPLETE} "${{(@)words[2,CURRENT]}}" 2>/dev/null)"}})
}}
if [[ $funcstack[1] = _runwatch ]]; then _runwatch "$@"; else compdef _runwatch runwatch; fi
"""


def _fish() -> str:
    lines = [
        "# fish completion of runwatch; load it with: runwatch completion fish | source",
        "function __runwatch_path",
        "    set -l path",
        "    set -l skip 0",
        "    for word in (commandline -opc)[2..]",
        "        if test $skip = 1; set skip 0; continue; end",
        "        switch $word",
        f"            case {' '.join(_valued())}",
        "                set skip 1",
        "            case '-*'",
        "            case '*'",
        '                if contains -- "$path" ' + " ".join(_quoted(" ".join(path)) for path in _nodes()),
        "                    set -a path $word",
        "                end",
        "        end",
        "    end",
        '    test "$path" = "$argv"',
        "end",
        "function __runwatch_names",
        "    set -l words (commandline -opc)",
        "    set -l begun (commandline -ct)",
        '    set -q begun[1]; or set begun ""',
        f"    command $words[1] {COMPLETE} $words[2..] $begun 2>/dev/null",
        "end",
        "complete -c runwatch -f",
    ]
    values = {name: " ".join(choices) for name, choices in _values().items()}
    values.update(dict.fromkeys(_named_flags(), "(__runwatch_names)"))
    for path, offer in _offers().items():
        when = _quoted(f"__runwatch_path {path}".rstrip())
        for word, text in offer.items():
            if word.startswith("--"):
                choices = f" -x -a {_quoted(values[word])}" if word in values else ""
                needs = " -r" if word in _valued() and not choices else ""
                lines.append(f"complete -c runwatch -n {when} -l {word[2:]}{needs}{choices} -d {_quoted(text)}")
            else:
                lines.append(f"complete -c runwatch -n {when} -a {word} -d {_quoted(text)}")
    lines += [
        f"complete -c runwatch -n {_quoted(f'__runwatch_path {name}')} -a '(__runwatch_names)'"
        for name in _named_verbs()
    ]
    return "\n".join(lines) + "\n"


SCRIPTS: Final = {"bash": _bash, "zsh": _zsh, "fish": _fish}
