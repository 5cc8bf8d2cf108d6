"""Skills: texts put in front of a task, and their repair, without side effects (manual: interface, "Arms"; manual:
interface, "Proposals").

A repair asks the model for new text of the first declared region found in the skill (see
:mod:`runwatch.service.models.skill_regions`). The model sees the skill and the failed anchors but neither task nor
output, so a proposal, which users keep and read, contains nothing of either.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Final

from runwatch.service.execution.live.state import SKILL_DRAFT, LiveRun, Skill
from runwatch.service.models.skill_regions import Region, find_region

REPAIR_CHARACTERS: Final = 100_000
"""Longest new text of a region, in characters."""


def find_skill_region(skill: Skill) -> Region | None:
    """Return the region that a repair rewrites, or ``None`` when the skill has none."""
    found = (find_region(skill.content, name) for name in skill.editable_regions)
    return next((region for region in found if region is not None), None)


def add_skill(content: str, objective: str) -> str:
    return f"{content}\n\n{objective}"


def build_repair_request(skill: Skill, region: Region, anchors: Mapping[str, bool] | None) -> str:
    failed = ", ".join(sorted(name for name, is_met in (anchors or {}).items() if not is_met))
    why = f" These points of the check failed: {failed}." if failed else ""
    return (
        f"An output check rejected what was made with the instructions below.{why} Rewrite the text of the region "
        f"{region.name!r} so that what is made with the instructions passes. Answer with the new text of that region "
        f"alone.\n\n{skill.content}"
    )


def apply_repair(skill: Skill, region: Region, text: str) -> str:
    return skill.content[: region.start] + _block(text) + skill.content[region.end :]


def repaired_text(live: LiveRun) -> str:
    """Return the text of a run's skill with the region that the run has rewritten."""
    draft = live.attempt_in(SKILL_DRAFT)
    assert live.skill is not None
    region = find_skill_region(live.skill)
    assert region is not None
    assert draft is not None
    return apply_repair(live.skill, region, draft.candidate or "")


def diff_region(region: Region, text: str) -> str:
    """Return the change of a region as a unified diff under a line that names the region (manual: interface,
    "Proposals").
    """
    before, after = region.text.splitlines(), _block(text).splitlines()
    lines = list(difflib.unified_diff(before, after, lineterm=""))[2:]
    return "\n".join([f"@@ region:{region.name} @@", *lines])


def _block(text: str) -> str:
    # A lone surrogate cannot be stored as text.
    sound = text[:REPAIR_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
    return sound.strip("\n") + "\n"
