"""Reports: read like lists, each question with an answer of its own, and given up where asking again mends nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from runwatch.records.usage import Usage
from runwatch.store.live.report_poller import REPORT_S, ReportPoller, ReportQuery, name_response_collection
from runwatch.store.session import ServiceSession
from runwatch.store.state.collection import Collection
from runwatch.store.state.failure_kind import FailureKind
from tests.store.live_service import LimitedService, watching
from tests.support import resources
from tests.support.builders import account, problem
from tests.support.scripted import Said

WEEK = ReportQuery("getUsage", Usage, (("from", "2026-11-15"), ("to", "2026-11-21")))
DAY = ReportQuery("getUsage", Usage, (("from", "2026-11-21"), ("to", "2026-11-21")))


def service(*said: Said) -> LimitedService:
    made = LimitedService(60, account=account())
    made.say("GET", "/v1/usage", *(said or (Said(200, resources.usage()),)))
    return made


def reports(session: ServiceSession) -> ReportPoller:
    return ReportPoller(session.client, session.live.writer, session.live.scheduler, session.clock)


def of(session: ServiceSession, report: ReportQuery) -> Collection:
    return session.store.collection(session.scope.profile, report.kind)


async def test_a_report_is_read_when_it_is_shown_and_again_every_minute(tmp_path: Path) -> None:
    async with watching(service(), tmp_path) as watch:
        reports(watch.session).show(WEEK)
        await watch.let_pass(2)
        assert of(watch.session, WEEK).records == [resources.usage()]
        await watch.let_pass(REPORT_S + 2)
        assert len(watch.service.requests("GET", "/v1/usage")) == 2


async def test_another_question_never_shows_the_answer_to_an_earlier_one(tmp_path: Path) -> None:
    told = service(Said(200, resources.usage()), Said(200, resources.usage(by_arm=[])))
    async with watching(told, tmp_path) as watch:
        reader = reports(watch.session)
        reader.show(WEEK)
        await watch.let_pass(2)
        reader.show(DAY)
        assert not of(watch.session, DAY).records
        await watch.let_pass(2)
        assert of(watch.session, DAY).records != of(watch.session, WEEK).records
        assert [heard.head.query["from"] for heard in told.requests("GET", "/v1/usage")] == ["2026-11-15", "2026-11-21"]


async def test_what_is_shown_no_longer_is_read_no_more(tmp_path: Path) -> None:
    async with watching(service(), tmp_path) as watch:
        reader = reports(watch.session)
        reader.show(WEEK)
        await watch.let_pass(2)
        reader.show()
        await watch.let_pass(5 * REPORT_S)
        assert len(watch.service.requests("GET", "/v1/usage")) == 1


@pytest.mark.parametrize(
    ("said", "trouble"),
    [
        (Said(404, problem("not_found")), FailureKind.NOT_OFFERED),
        (Said(403, problem("permission_denied")), FailureKind.NOT_AUTHORISED),
        (Said(200, [1]), FailureKind.ERROR),
    ],
)
async def test_what_asking_again_does_not_mend_waits_for_the_user(
    tmp_path: Path, said: Said, trouble: FailureKind
) -> None:
    async with watching(service(said, Said(200, resources.usage())), tmp_path) as watch:
        reader = reports(watch.session)
        reader.show(WEEK)
        await watch.let_pass(3 * REPORT_S)
        failure = of(watch.session, WEEK).failure
        assert failure is not None
        assert failure.kind is trouble
        assert len(watch.service.requests("GET", "/v1/usage")) == 1
        reader.refresh()
        await watch.let_pass(2)
        assert of(watch.session, WEEK).records == [resources.usage()]


async def test_a_service_that_is_down_is_asked_again_ever_more_seldom(tmp_path: Path) -> None:
    down = Said(503, problem("internal", status=503))
    async with watching(service(*[down] * 3, Said(200, resources.usage())), tmp_path) as watch:
        reports(watch.session).show(WEEK)
        await watch.let_pass(60)
        assert of(watch.session, WEEK).records == [resources.usage()]


async def test_a_report_that_is_read_once_is_read_again_only_for_the_user(tmp_path: Path) -> None:
    told = service()
    once = ReportQuery("getUsage", Usage, WEEK.query, is_read_once=True)
    async with watching(told, tmp_path) as watch:
        reader = reports(watch.session)
        reader.show(once)
        await watch.let_pass(3 * REPORT_S)
        assert len(told.requests("GET", "/v1/usage")) == 1
        reader.refresh()
        await watch.let_pass(2)
        assert len(told.requests("GET", "/v1/usage")) == 2


def test_an_answer_about_a_record_is_named_after_both() -> None:
    assert name_response_collection(Usage, "vrf_1") == "usage vrf_1"
