"""Fictional sources and models of the sample organization, with no server behind them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from runwatch.service.models.providers.model_list import CAPABILITY
from runwatch.service.models.providers.source_definition import SourceDefinition
from runwatch.service.models.providers.types import ServedModel

SCHEME: Final = "fixture:"
"""Scheme of sample base URLs. The source's id follows; without one, all samples are served."""


@dataclass(frozen=True, slots=True)
class SampleModel:
    """A simulated model."""

    served: ServedModel
    first_token_s: float = 0.5
    tokens_per_s: float = 60.0
    fault: str = ""
    fails_once: bool = False
    keeps_form: bool = True


@dataclass(frozen=True, slots=True)
class SampleSource:
    """A source of simulated models.

    Attributes:
        reports_cost: Whether its responses report their cost, as those of gateways do.
    """

    source: SourceDefinition
    models: tuple[SampleModel, ...]
    reports_cost: bool = False


def _model(
    upstream_ref: str,
    display_name: str,
    release: str,
    lifecycle: str,
    prices: str,
    *,
    data_classes: tuple[str, ...] = ("public",),
    capabilities: tuple[str, ...] = (CAPABILITY,),
    commercial_use: str = "allowed",
    **behavior: Any,
) -> SampleModel:
    """Declare a model: ``prices`` are those of a million input and output tokens, ``behavior`` is of its calls."""
    publisher, _, name = upstream_ref.rpartition("/")
    input_usd, output_usd = prices.split()
    served = ServedModel(
        upstream_ref=upstream_ref,
        display_name=f"Sample {display_name}",
        capabilities=capabilities,
        data_classes=data_classes,
        publisher_id=publisher or "sample",
        family=name.partition("-")[0],
        release=release,
        lifecycle=lifecycle,
        license={"identifier": "sample", "commercial_use": commercial_use, "evidence_ref": None},
        prices={"input_usd_per_million": input_usd, "output_usd_per_million": output_usd},
    )
    return SampleModel(served, **behavior)


def _source(
    source_id: str,
    display_name: str,
    models: Iterable[SampleModel],
    *,
    location: str,
    route: str = "direct",
    reports_cost: bool = False,
) -> SampleSource:
    served = tuple(models)
    return SampleSource(
        SourceDefinition(
            source_id=source_id,
            source_kind="fixture",
            base_url=f"{SCHEME}{source_id}",
            protocol_profiles=("openai_chat",),
            auth_schemes=("none", "api_key"),
            display_name=f"Sample {display_name}",
            location=location,
            route=route,
            prices={model.served.upstream_ref: model.served.prices for model in served if model.served.prices},
        ),
        served,
        reports_cost,
    )


_SUMMARY: Final = (CAPABILITY, "text.summarize")
_REVIEW: Final = (CAPABILITY, "text.summarize", "code.review")
_INTERNAL: Final = ("public", "sandbox", "tenant_internal")

SAMPLES: Final = (
    _source("sample_north", "North", (
        _model("ember-small", "Ember Small", "2026-05", "active", "0.10 0.40", data_classes=_INTERNAL,
               capabilities=_SUMMARY, tokens_per_s=120.0),
        _model("ember-large", "Ember Large", "2026-05", "active", "2.50 10.00", data_classes=_INTERNAL,
               capabilities=_REVIEW, first_token_s=1.2, tokens_per_s=45.0),
        _model("ember-next", "Ember Next", "2026-11", "preview", "1.00 4.00", capabilities=_REVIEW,
               commercial_use="restricted"),
        _model("ember-classic", "Ember Classic", "2024-03", "deprecated", "0.50 1.50", tokens_per_s=30.0),
    ), location="eu"),
    _source("sample_gateway", "Gateway", (
        _model("river/river-mini", "River Mini (keeps to no form)", "2026-08", "active", "0.05 0.20",
               tokens_per_s=150.0, keeps_form=False),
        _model("river/river-pro", "River Pro", "2026-08", "preview", "1.25 5.00", capabilities=_SUMMARY),
        _model("stone/stone-busy", "Stone Busy (its first call fails)", "2026-02", "active", "0.30 0.90",
               fault="capacity", fails_once=True),
    ), location="global", route="gateway", reports_cost=True),
    _source("sample_cloud", "Cloud", (
        _model("cedar-standard", "Cedar Standard", "2025-10", "active", "0.80 3.20",
               data_classes=("public", "tenant_internal"), capabilities=_SUMMARY),
        _model("cedar-deep", "Cedar Deep (slow)", "2026-09", "preview", "5.00 20.00", capabilities=_REVIEW,
               first_token_s=9.0, tokens_per_s=15.0),
        _model("cedar-first", "Cedar First (no longer answers)", "2023-06", "retired", "1.50 2.00",
               fault="model_not_found"),
    ), location="us"),
)  # fmt: skip

SAMPLE_SOURCES: Final = tuple(sample.source for sample in SAMPLES)
