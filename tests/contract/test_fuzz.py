"""Ten thousand requests that were made to hurt: each gets an answer, each refusal is a Problem, nothing leaks.

The same requests every time; ``RUNWATCH_EXPLORE=1`` takes other ones. The seed is printed where a test fails.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.contract.fuzzing import Fuzz
from tests.contract.operations import TABLE
from tests.contract.shooting import Range, shoot
from tests.contract.surroundings import organization_of
from tests.support import postgres
from tests.support.team import running_service

SEED: Final = 20_261_121
WHOLE: Final = 9_100
BROKEN: Final = 1_000
CONNECTIONS: Final = 24


@pytest.mark.exhaustive
async def test_nothing_that_is_sent_breaks_the_service_or_makes_it_talk(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(2**32) if os.environ.get("RUNWATCH_EXPLORE") else SEED
    print(f"seed {seed}")
    data_dir = tmp_path / "service"
    with running_service(data_dir, "--allow-loopback-checks", "--allow-signup") as service:
        async with organization_of(service.base_url, service.api_key) as organization:
            goods = [(operation, await operation.make(organization)) for operation in TABLE]
            fuzz = Fuzz(seed, goods, service.api_key, service.port)
            target = Range(service.port, frozenset(organization.secrets))
            await shoot(target, fuzz.whole(WHOLE), fuzz.broken(BROKEN), connections=CONNECTIONS)
            async with httpx.AsyncClient(base_url=service.base_url, timeout=60) as client:
                headers = {"Authorization": f"Bearer {service.api_key}"}
                assert (await client.get("/v1/account", headers=headers)).status_code == 200
        assert service.stop() == 0
        kept = {str(file): file.read_bytes() for file in data_dir.rglob("*") if file.is_file()}
        kept |= postgres.kept_rows(data_dir) if postgres.IS_TEAM else {}
    assert target.flaws == [], "\n".join(target.flaws[:40])
    assert sum(target.answers.values()) >= 10_000
    assert {200, 201, 400, 401, 403, 404, 405, 409, 415} <= set(target.answers)
    secrets = [secret.encode() for secret in {*organization.secrets, *target.told}]
    assert len(secrets) > 20
    names = {Path(name).name for name in kept}
    assert {"problems" if postgres.IS_TEAM else "service.db", "service.log", "stderr.txt"} <= names
    for name, content in kept.items():
        # Files and tables that are there to hold a secret hold it sealed.
        assert not [secret for secret in secrets if secret in content], name
    lines = [json.loads(line) for file in data_dir.rglob("log/*") for line in file.read_text("utf-8").splitlines()]
    assert lines
    assert [line for line in lines if "trace" in line or line["level"] in {"error", "critical"}] == []
    assert "Traceback" not in service.errors
