"""Saved models that use a deployment, as lines with links."""

from __future__ import annotations

from collections.abc import Iterable

from runwatch.records.arm import Arm
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.text.format import RenderContext, short_id
from runwatch.view.text.safe_text import line
from runwatch.view.text.status_format import status_cell
from runwatch.view.text.styled_text import with_role


def saved_model_sections(
    deployment_id: str, arms: Iterable[Arm], context: RenderContext, *, is_known: bool
) -> list[DetailSection]:
    """Return the saved models of a deployment; empty if they are unknown.

    Args:
        is_known: Whether the list of saved models was read.
    """
    if not is_known or not deployment_id:
        return []
    found = [arm for arm in arms if arm.model_deployment_id == deployment_id]
    if not found:
        return [DetailSection(line("Used by"), (DetailLine(line("saved models"), line("none of this deployment")),))]
    lines = []
    for arm in found:
        status, role = with_role(status_cell(arm.status, context))
        name = line(arm.display_name) if arm.display_name else short_id(arm.id, context.glyphs)
        lines.append(DetailLine(status, name, role, target=(Arm.KIND, arm.id)))
    return [DetailSection(line("Used by"), tuple(lines))]
