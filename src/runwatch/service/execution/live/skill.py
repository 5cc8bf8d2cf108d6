"""Skills: texts that go in front of a task, and how one is repaired (wire reference 2.3, 2.8 and 4.3). Pure.

A repair asks the model for a new text of the first region that the skill declares and has (see
:mod:`runwatch.service.models.skill_regions`). It is shown the skill and which anchors failed, and neither the task nor
an output, so a proposal, which people keep and read, holds nothing of either.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Final

from runwatch.service.execution.live.state import Skill
from runwatch.service.models.skill_regions import Region, find_region

REPAIR_CHARACTERS: Final = 100_000
"""The longest new text of a region that is taken; ours."""


def find_skill_region(skill: Skill) -> Region | None:
    """The region that a repair rewrites, ``None`` when the skill has none."""
    found = (find_region(skill.content, name) for name in skill.editable_regions)
    return next((region for region in found if region is not None), None)


def add_skill(content: str, objective: str) -> str:
    """An objective behind a skill's text."""
    return f"{content}\n\n{objective}"


def build_repair_request(skill: Skill, region: Region, anchors: Mapping[str, bool] | None) -> str:
    """What the model is asked in order to rewrite a region."""
    failed = ", ".join(sorted(name for name, is_met in (anchors or {}).items() if not is_met))
    why = f" These points of the check failed: {failed}." if failed else ""
    return (
        f"An output check rejected what was made with the instructions below.{why} Rewrite the text of the region "
        f"{region.name!r} so that what is made with the instructions passes. Answer with the new text of that region "
        f"alone.\n\n{skill.content}"
    )


def apply_repair(skill: Skill, region: Region, text: str) -> str:
    """A skill's content with a new text of one region."""
    return skill.content[: region.start] + _block(text) + skill.content[region.end :]


def diff_region(region: Region, text: str) -> str:
    """The change of a region, as a unified diff under a line that names the region (wire reference 6.17)."""
    before, after = region.text.splitlines(), _block(text).splitlines()
    lines = list(difflib.unified_diff(before, after, lineterm=""))[2:]
    return "\n".join([f"@@ region:{region.name} @@", *lines])


def _block(text: str) -> str:
    # A lone surrogate cannot be kept as text.
    sound = text[:REPAIR_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
    return sound.strip("\n") + "\n"
