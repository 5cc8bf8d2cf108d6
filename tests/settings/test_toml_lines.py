"""Keys are found on their lines, in every form that a user may write."""

from __future__ import annotations

import tomllib
from typing import Any

import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from runwatch.settings.toml_lines import key_lines

TEXT = '''\
# a comment = with an equals sign
theme = "x"   # and another = one

filters = { live = "is:live", "a.b" = "x" }
note = """
theme2 = not a key
[table] neither
"""
list = [
  "retries = 1",  # not one
  2,
]
a.b.c = 1

[refresh]
runs_s = 5
"quoted key" = 1
[profiles.work]
'single' = 2
base_url = "https://x"
[ "profiles" . 'eu' ]
base_url = "https://y"
[[arrays]]
inner = 1
[[arrays]]
inner = 2
'''


def test_every_form_of_a_key_is_found() -> None:
    assert key_lines(TEXT) == {
        ("theme",): 2, ("filters",): 4, ("filters", "live"): 4, ("filters", "a.b"): 4, ("note",): 5, ("list",): 9,
        ("a",): 13, ("a", "b"): 13, ("a", "b", "c"): 13, ("refresh",): 15, ("refresh", "runs_s"): 16,
        ("refresh", "quoted key"): 17, ("profiles",): 18, ("profiles", "work"): 18, ("profiles", "work", "single"): 19,
        ("profiles", "work", "base_url"): 20, ("profiles", "eu"): 21, ("profiles", "eu", "base_url"): 22,
        ("arrays",): 23, ("arrays", "inner"): 24,
    }  # fmt: skip


def test_lines_of_windows_count_alike() -> None:
    assert key_lines(TEXT.replace("\n", "\r\n")) == key_lines(TEXT)


def test_a_statement_without_end_in_sight_ends_the_search() -> None:
    long = "first = 1\nlist = [\n" + "1,\n" * 5000 + "]\nlast = 1\n"
    assert tomllib.loads(long)["last"] == 1
    assert key_lines(long) == {("first",): 1}


TABLES = st.recursive(
    st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.lists(st.integers(), max_size=3),
    lambda inner: st.dictionaries(st.text("ab.\"' \n[]=#é", max_size=4), inner, max_size=3),
    max_leaves=8,
)


def paths(table: dict[str, Any], prefix: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    found = set()
    for name, item in table.items():
        found.add((*prefix, name))
        if isinstance(item, dict):
            found |= paths(item, (*prefix, name))
    return found


@given(st.dictionaries(st.text("abc.", max_size=3), TABLES, max_size=4))
def test_every_key_of_any_file_is_found_on_a_line_that_holds_its_name(content: dict[str, Any]) -> None:
    text = tomli_w.dumps(content)
    assert set(key_lines(text)) == paths(content)
