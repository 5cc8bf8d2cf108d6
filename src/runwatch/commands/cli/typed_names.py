"""Fields of a request as the user typed them: options and arguments of the command, for errors that name members."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

from runwatch.base.closest_word import did_you_mean
from runwatch.commands.cli.command_spec import TARGET
from runwatch.commands.cli.grammar import command_at
from runwatch.commands.cli.resource_commands import find_command_actions, option_attribute

if TYPE_CHECKING:
    from runwatch.commands.cli.command_spec import CommandSpec
    from runwatch.commands.cli.invocation import Invocation

SUBMIT_OPTIONS: Final = {
    "mode": "--mode",
    "task.objective": "--objective",
    "task.inputs_ref": "--inputs",
    "policy.data_classes": "--data-class",
    "policy.budget.max_cost_usd": "--max-cost-usd",
    "policy.budget.max_runtime_s": "--max-runtime-s",
    "policy.cost_coefficient": "--cost-coefficient",
    "policy.on_eval": "--on-eval",
    "verifier_id": "--verifier-id",
    "routing.required_arm_id": "--arm-id",
}
"""The option of each member of a run's request."""

_SAVED: Final = {
    "display_name": "--name",
    "capability_tags": "--capability-tag",
    "data_class_grants": "--data-class",
    "model_deployment_id": "ID",
}
_DAYS: Final = {"from": "--first-day|--from", "to": "--last-day|--to"}
_OPTIONS: Final[Mapping[tuple[str, ...], Mapping[str, str]]] = {
    ("runs", "submit"): SUBMIT_OPTIONS,
    ("models", "save"): _SAVED,
    ("usage",): _DAYS,
    ("evals",): _DAYS,
    ("compliance", "export"): _DAYS,
    ("account",): {"amount_usd": "--top-up"},
    ("templates", "plan"): {"template_id": "TEMPLATE"},
    ("templates", "apply"): {"template_id": "TEMPLATE"},
    ("sources", "connect"): {
        "source_id": "SOURCE",
        "display_name": "--name",
        "endpoint.base_url": "--openai-compatible|--anthropic-compatible",
        "endpoint.protocol_profile": "--protocol",
        "endpoint.models": "--model",
    },
}
"""Options of commands that no specification declares, where their names differ from the members; of several, the one
that was given is meant.
"""

_INDEX: Final = re.compile(r"\[(\d+)\].*")
_CHOICES: Final = re.compile(r"Must be (?:one of (.+)|('.+' or '.+'))\.\Z")
"""How the service names the values that a member takes."""

_CHOICE: Final = re.compile(r"[\w.-]+")


class TypedNames:
    """The options and arguments of one invocation, by the members that they set."""

    def __init__(self, call: Invocation) -> None:
        self._call = call

    def name(self, field: str) -> str:
        """Return the option or argument for a member; the member itself where none sets it, or a file did."""
        path = _INDEX.sub("", field)
        options = (self._names.get(path) or self._by_own_name(path) or "").split("|")
        option = next((each for each in options if each and self._given(each) is not None), options[0])
        if not option or (self._is_from_file and not self._given(option)):
            return field
        # The service applies what it can of a filter.
        return option if self._given(option) is not None or not self._call.options.filter else "--filter"

    def guess(self, field: str, message: str) -> str | None:
        """Return the question that suggests the choice most similar to the value that was typed."""
        name, place, choices = self.name(field), _INDEX.search(field), _CHOICES.match(message)
        given = self._given(name)
        if name == "--filter":
            value = re.search(rf'\b{re.escape(field)}="?([\w.-]+)', str(given))
            given = value and value[1]
        if isinstance(given, list) and place is not None:
            given = next(iter(given[int(place[1]) :]), None)
        if not isinstance(given, str) or choices is None:
            return None
        return did_you_mean(given, [word for word in _CHOICE.findall(choices[1] or choices[2]) if word != "or"])

    @cached_property
    def _is_from_file(self) -> bool:
        options = {} if self._command is None else {flag.name: flag for flag in self._command.flags}
        return "--from" in options and options["--from"].metavar == "FILE" and self._given("--from") is not None

    @cached_property
    def _command(self) -> CommandSpec | None:
        return command_at(self._call.words)

    @cached_property
    def _names(self) -> Mapping[str, str]:
        words = self._call.words
        if words in _OPTIONS:
            return _OPTIONS[words]
        try:
            _, actions = find_command_actions(words)
        except (LookupError, KeyError):
            return {}
        fields = [field for action in actions if action.mutation for field in action.mutation.option_fields]
        return {field.path: field.option.name for field in fields if field.option is not None}

    def _by_own_name(self, path: str) -> str | None:
        """Return the option that is called like the member, or the argument for an id."""
        if self._command is None:
            return None
        name = path.rpartition(".")[2]
        own = [flag for flag in self._command.flags if flag not in TARGET and option_attribute(flag.name) == name]
        is_id = name.endswith("_id")
        arguments = (each.name for each in self._command.arguments)
        named = (each for each in arguments if each.lower() == name or (each == "ID" and is_id))
        return next(iter((*(flag.name for flag in own), *named)), None)

    def _given(self, option: str) -> object:
        return self._call.options[option_attribute(option)]
