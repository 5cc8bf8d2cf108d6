"""From a live run's provider call to the wallet, the usage report and the webhook."""

from __future__ import annotations

from decimal import Decimal

from runwatch.base.json import loads
from tests.service.conftest import Serving, echo_body, keyed, me
from tests.service.sourcing import model_arm, save
from tests.service.test_wallet import balance, set_limits
from tests.service.test_webhooks import add, settled
from tests.support.model_server import ModelServer
from tests.support.problems import check
from tests.support.receiver import Receiver


async def test_what_a_live_run_costs_is_charged_counted_and_told(serving: Serving) -> None:
    server = ModelServer(usage=(12, 5), cost_usd=0.07)
    server.answer("A greeting.")
    async with serving(allow_loopback_checks=True) as local, server, Receiver() as receiver:
        made = await model_arm(local, (await save(local, server, secret=None)).deployments["tiny-1"])
        await set_limits(local, balance_usd=Decimal("0.10"))
        hook = await add(local, receiver.url)

        async def done() -> str:
            run = await local.finished((await local.submit(echo_body(mode="live")))["execution_id"])
            assert run["status"] == "completed", run
            return str(run["execution_id"])

        first = await done()
        receipt = loads((await local.http.get(f"/v1/receipts/{first}")).content)
        assert receipt["totals"]["usd"] == 0.07
        assert await balance(local) == "0.03"
        second = await done()
        assert await balance(local) == "-0.04"
        answer = await local.http.post("/v1/executions", json=echo_body(mode="live"), headers=keyed("no money"))
        check(answer, "insufficient_credit")
        used = await local.get("/v1/usage")
        assert (used["totals"]["executions"], used["totals"]["calls"]) == (2, 2)
        assert (used["totals"]["input_tokens"], used["totals"]["output_tokens"]) == (24, 10)
        assert used["totals"]["usd"] == used["by_arm"][0]["usd"] == used["by_key"][0]["usd"] == 0.14
        assert used["by_arm"][0]["arm_id"] == used["by_key"][0]["top_arms"][0]["arm_id"] == made["arm_id"]
        assert used["by_key"][0]["api_key_id"] == await me(local)
        assert (used["by_arm"][0]["display_name"], used["by_arm"][0]["connection_name"]) == ("Tiny", "Lab")
        assert used["by_key"][0]["display_name"]
        rows = await settled(local, hook["webhook_id"], 2)
        assert [row["execution_id"] for row in rows] == [second, first]
        assert all("greeting" not in taken.body.decode() for taken in receiver.taken)
