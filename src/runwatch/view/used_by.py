"""What uses a model: the saved ones made of its deployment, as lines that lead to them. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from runwatch.records.arm import Arm
from runwatch.view.detail import Line, Section
from runwatch.view.drawn import line
from runwatch.view.format import Context, short_id
from runwatch.view.resource import styled
from runwatch.view.resources.standing import standing


def saved_as(deployment_id: str, arms: Iterable[Arm], context: Context, *, is_known: bool) -> list[Section]:
    """The saved models of a deployment; none where they are not known.

    Args:
        deployment_id: The id of the model deployment.
        arms: Every saved model.
        context: What it is drawn with.
        is_known: Whether the list of saved models was read.
    """
    if not is_known or not deployment_id:
        return []
    found = [arm for arm in arms if arm.model_deployment_id == deployment_id]
    if not found:
        return [Section(line("Used by"), (Line(line("saved models"), line("none of this deployment")),))]
    lines = []
    for arm in found:
        status, role = styled(standing(arm.status, context))
        name = line(arm.display_name) if arm.display_name else short_id(arm.id, context.glyphs)
        lines.append(Line(status, name, role, target=(Arm.KIND, arm.id)))
    return [Section(line("Used by"), tuple(lines))]
