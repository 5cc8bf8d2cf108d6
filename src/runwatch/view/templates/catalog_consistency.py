"""Whether the parts of a template's catalog row agree. Computed by runwatch, not stated by the service.

A catalog row names the same model, variant and upstream in several groups (manual: interface, "Model catalog,
definitions and deployments"). Differences and old tests are shown to reviewers; they do not affect eligibility.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from runwatch.records.template import Template
from runwatch.view.text import json_paths
from runwatch.view.text.format import RenderContext, ago
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line
from runwatch.view.text.styled_text import CellText, StyledText, signed

OLD_TEST: Final = timedelta(days=7)
"""Age from which a test is called old (manual: decisions, "Interface conventions")."""

_VARIANT: Final = (
    "offering.served_variant.served_variant_id", "offering.certification.subject.served_variant_id",
    "deployment.served_variant_id", "provenance.requested.served_variant_id",
)  # fmt: skip
_MODEL: Final = (
    "model.model_key", "offering.served_variant.model_key", "offering.certification.subject.model_key",
    "deployment.model_key", "provenance.requested.model_key",
)  # fmt: skip
_REQUESTED: Final = ("provenance.requested.upstream_ref", "deployment.upstream_ref")
_RESOLVED: Final = (
    "provenance.resolved.upstream_ref", "deployment.resolved_upstream_ref", "offering.resolved_upstream_ref",
)  # fmt: skip


def check_upstream(template: Template, context: RenderContext) -> CellText | None:
    """Compare the upstream that was requested with the one that it resolved to."""
    requested, resolved = _texts(template, _REQUESTED), _texts(template, _RESOLVED)
    if not requested:
        return None
    asked = next(iter(requested.values()))
    if not resolved:
        return StyledText(line(f"{context.glyphs.unknown} requested {asked}, not resolved", None), Role.QUIET)
    answered = next(iter(resolved.values()))
    if len(set(resolved.values())) > 1:
        found = ", ".join(sorted(set(resolved.values())))
        return signed(f"requested {asked}, resolved in different ways: {found}", Role.WARN, context.glyphs)
    if asked == answered:
        return signed(f"requested = resolved {asked}", Role.GOOD, context.glyphs)
    return signed(f"requested {asked}, resolved {answered}", Role.WARN, context.glyphs)


def check_variant(template: Template, context: RenderContext) -> CellText | None:
    return _same(template, _VARIANT, context)


def check_model(template: Template, context: RenderContext) -> CellText | None:
    return _same(template, _MODEL, context)


def check_last_test(template: Template, context: RenderContext) -> CellText | None:
    """Describe the age of the deployment's last test."""
    deployment = None if template.catalog_row is None else template.catalog_row.deployment
    at = None if deployment is None else deployment.last_tested_at
    if at is None:
        return None
    tested = f"tested {ago(at, context.now)}"
    if context.now - at > OLD_TEST:
        return signed(f"{tested}, more than {OLD_TEST.days} d", Role.WARN, context.glyphs)
    return signed(tested, Role.GOOD, context.glyphs)


def check_eligibility(template: Template, context: RenderContext) -> CellText | None:
    """Check that eligibility and blockers do not contradict each other."""
    blockers = template.blockers or ()
    if template.eligible and blockers:
        return signed("eligible, but blockers are listed", Role.WARN, context.glyphs)
    if template.eligible is False and not blockers:
        return signed("not eligible, but no blocker is listed", Role.WARN, context.glyphs)
    return None


def _texts(template: Template, paths: tuple[str, ...]) -> dict[str, str]:
    """Return the texts at some paths of the catalog row, by path. Missing values and values that are not text are left
    out.
    """
    row: Any = template.raw.get("catalog_row")
    found = {path: json_paths.get_at(row, json_paths.parse_path(path)) for path in paths}
    return {path: value for path, value in found.items() if isinstance(value, str) and value}


def _same(template: Template, paths: tuple[str, ...], context: RenderContext) -> CellText | None:
    found = _texts(template, paths)
    if len(found) < 2:
        return None
    values = dict.fromkeys(found.values())
    if len(values) == 1:
        return signed(f"the same in {len(found)} places", Role.GOOD, context.glyphs)
    places = {value: ", ".join(_group(path) for path in found if found[path] == value) for value in values}
    differences = "; ".join(f"{value} in {where}" for value, where in places.items())
    return signed(f"differs: {differences}", Role.WARN, context.glyphs)


def _group(path: str) -> str:
    """Return the group of the catalog row that contains a path; the certification is a group of its own."""
    return "certification" if "certification" in path else path.partition(".")[0]
