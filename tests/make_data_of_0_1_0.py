"""Makes the data directory of version 0.1.0 that tests open: ``python -m tests.make_data_of_0_1_0`` in a tree of it.

It is checked in as :data:`ARCHIVE`, because later versions write another form. It holds the owner, a source with a key
and a model, a check with a key, a webhook with its signing secret, a skill that lacks its region, four final runs (the
last one called the model) and a second key. Everything in it is made up.
"""

from __future__ import annotations

import asyncio
import io
import json
import sqlite3
import sys
import tarfile
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Final

from runwatch.base.clock import SystemClock
from tests.service.conftest import Json, serve_in_process
from tests.service.live_work import live_body
from tests.service.sourcing import SECRET as SOURCE_KEY
from tests.service.sourcing import model_arm, post, save
from tests.service.test_arms import SKILL
from tests.service.test_verifier_connection import SECRET as CHECK_KEY
from tests.service.test_verifier_connection import connect
from tests.service.test_verifiers import PATH, registered
from tests.service.test_webhooks import BODY
from tests.support.archives import extract_archive
from tests.support.dock import dock
from tests.support.model_server import ModelServer, running_model_server

ARCHIVE: Final = Path(__file__).parent / "service" / "data_of_0_1_0.tar.gz"
"""The data directory, as ``service/`` in a tar file, with :data:`TOLD` beside it."""

TOLD: Final = "told.json"
"""What a caller was told in its life: the keys, the secrets, and the ids of what they belong to."""

RUNS: Final = 4

_PRICES: Final = {"*": {"input_usd_per_million": "1000", "output_usd_per_million": "2000"}}
_UNMARKED: Final = {"content": "Be brief.", "version": "1", "editable_regions": ["body"]}

_LEFT_OUT: Final = frozenset({"log", "service.lock", "start.lock"})


async def make(data_dir: Path, server: ModelServer) -> dict[str, object]:
    """Fill a data directory through the wire and return what a caller was told."""
    async with dock() as endpoint, serve_in_process(data_dir, SystemClock(), allow_loopback_checks=True) as local:
        endpoint.keys = {CHECK_KEY}
        endpoint.says(is_correct=True, quality_score=0.5, anchor_results={"fits": True})
        source = await save(local, server, prices=_PRICES)
        await model_arm(local, source.deployments["tiny-1"], cost_class="economy")
        skill = await post(local, "/v1/arms", SKILL | {"artifact": _UNMARKED})
        verifier_id = str((await registered(local, endpoint.url))["verifier_id"])
        await connect(local, f"{PATH}/{verifier_id}", CHECK_KEY)
        webhook = (await local.http.post("/v1/webhooks", json=BODY)).json()
        second, _ = await local.add_key(role="reader")
        bodies = [*[None] * (RUNS - 1), live_body(["gate"], verifier_id=verifier_id)]
        runs = [str((await local.submit(body))["execution_id"]) for body in bodies]
        for run_id in runs:
            await local.finished(run_id)
        return {
            "owner_key": local.key, "second_key": second, "connection_id": source.connection["connection_id"],
            "source_key": SOURCE_KEY, "verifier_id": verifier_id, "check_key": CHECK_KEY,
            "webhook_id": webhook["webhook_id"], "webhook_secret": webhook["secret"], "skill_id": skill["arm_id"],
            "runs": runs,
        }  # fmt: skip


def unpack(data_dir: Path) -> Json:
    """Put the data directory in its place, and return what a caller was told."""
    extract_archive(ARCHIVE, data_dir.parent)
    (data_dir.parent / "service").rename(data_dir)
    data_dir.chmod(0o700)
    content: Json = json.loads((data_dir.parent / TOLD).read_text())
    (data_dir.parent / TOLD).unlink()
    return content


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        data_dir = Path(place) / "service"
        with running_model_server(ModelServer(key=SOURCE_KEY)) as server:
            told = asyncio.run(make(data_dir, server))
        with closing(sqlite3.connect(data_dir / "service.db")) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            database.execute("VACUUM")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with tarfile.open(ARCHIVE, "w:gz") as archive:
            for file in sorted(data_dir.rglob("*")):
                inside = file.relative_to(data_dir)
                if file.is_file() and inside.parts[0] not in _LEFT_OUT:
                    archive.add(file, f"service/{inside}", filter=_plain)
            content = json.dumps(told, indent=1).encode()
            member = tarfile.TarInfo(TOLD)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    sys.stdout.write(f"{ARCHIVE}: {ARCHIVE.stat().st_size} bytes\n")


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """A member that says nothing about the machine it was made on."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main()
