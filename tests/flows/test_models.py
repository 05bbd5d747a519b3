"""Models as a person sets them up: prices, settings, switches, accounts, in the flows through every layer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.models import Call, Turn
from tests.flows.house import LivingHome
from tests.flows.served import by_turn, served
from tests.promises import promise


def _elsewhere(url: str) -> str:
    """The same server at an address that is not this machine's own, so that it does not count as free."""
    return url.replace("127.0.0.1", "0.0.0.0")


@promise("LLM-7.unpriced")
def test_a_model_without_a_known_price_runs_and_only_the_tokens_bind(house: LivingHome, project: Path) -> None:
    with served(lambda _: Turn("Done.", usage=(100, 5, 0, 0))) as model:
        house.cli(
            "providers", "add", "lan", "--preset", "compatible", "--url", _elsewhere(model.openai), "--model", "m-1"
        )
        ran = house.cli("run", "say hello", "--dir", str(project), "--model", "lan/m-1")
    assert ran.returncode == 0, ran.stderr
    assert "no price is known for lan/m-1: only the limit of 400,000 tokens holds" in ran.stdout
    assert "price unknown" in house.cli("usage").stdout
    capped = house.cli("cap", "--usd", "5")
    assert "No price is known for lan/m-1: of these the limit of tokens alone counts" in capped.stdout
    assert '"unpriced": ["lan/m-1"]' in house.cli("cap", "--json").stdout


def _add(house: LivingHome, name: str, url: str, *more: str) -> None:
    added = house.cli("providers", "add", name, "--preset", "compatible", "--url", url, *more)
    assert added.returncode == 0, added.stderr


@promise("LLM-7.settings")
def test_a_price_that_the_person_gives_is_counted_and_nonsense_is_refused(house: LivingHome, project: Path) -> None:
    with served(lambda _: Turn("Done.", usage=(100_000, 1000, 0, 0))) as model:
        _add(house, "lan", _elsewhere(model.openai), "--header", "X-Gateway=very-secret-value")
        for price in ("-1", "nan", "1e9", "cheap"):
            refused = house.cli("providers", "set", "lan/m-1", "--price-in", price, "--price-out", "1")
            assert refused.returncode != 0 and "is no price of 0 to 10,000 dollars" in refused.stderr
        assert house.cli("providers", "set", "lan/m-1", "--price-in", "1").returncode != 0
        shown = house.cli("providers", "set", "lan/m-1", "--price-in", "2", "--price-out", "10", "--window", "65536")
        assert "$2.00 in, $10.00 out" in shown.stdout and "65,536 tokens" in shown.stdout
        refused = house.cli("providers", "set", "lan/m-1", "--param", "messages=[]")
        assert refused.returncode != 0 and "filled in by Stead" in refused.stderr
        ran = house.cli("run", "say hello", "--dir", str(project), "--model", "lan/m-1")
        assert model.requests()[0].request.headers["x-gateway"] == "very-secret-value"
    assert ran.returncode == 0 and "no price is known" not in ran.stdout
    assert "$0.21" in house.cli("usage").stdout
    free = house.cli("providers", "set", "lan/m-1", "--price-in", "0", "--price-out", "0")
    assert "price: free" in free.stdout
    everything = str(house.events()) + house.cli("providers", "list", "--json").stdout + house.log_tail()
    assert "very-secret-value" not in everything and '"x-gateway"' in everything.lower()


@pytest.mark.long
def test_the_window_that_a_server_reports_is_used(house: LivingHome, project: Path) -> None:
    with served(lambda _: Turn("Done.")) as model:
        model.windows = {"m-1": 200_000}
        model.models = ("m-1",)
        _add(house, "lan", model.openai)
        house.post("/chain", {"chain": [{"provider": "lan", "model": "m-1"}]})
        id = house.post("/sessions", {"directory": str(project)})["session"]
        assert house.get(f"/sessions/{id}/context")["window_tokens"] == 200_000


@promise("LLM-7.switch")
def test_the_model_of_a_running_session_is_switched_with_its_effort(house: LivingHome, project: Path) -> None:
    with (
        served(lambda _: Turn("From the first.", thinking="hm")) as one,
        served(lambda _: Turn("From the other.")) as two,
    ):
        _add(house, "one", one.openai)
        _add(house, "two", two.openai)
        chain = [{"provider": "one", "model": "m-1"}]
        id = house.post("/sessions", {"directory": str(project), "chain": chain})["session"]
        house.cli("session", "send", id, "hello", "--wait")
        switched = house.cli("session", "model", id, "two/m-2", "--effort", "high")
        assert "uses two/m-2 from its next request on" in switched.stdout, switched.stderr
        shown = house.cli("session", "send", id, "and now", "--wait", "-v")
        assert "From the other." in shown.stdout and "two/m-2" in shown.stdout
        body = two.requests()[0].body
    assert body["reasoning_effort"] == "high" and body["model"] == "m-2"
    assert "hello" in str(body["messages"]) and "hm" not in str(body["messages"])
    assert house.bodies(id, "model.switched")[0]["effort"] == "high"
    assert house.cli("session", "model", id, "nowhere/m").returncode != 0
    assert len(house.bodies(id, "model.switched")) == 1


@promise("LLM-7.roles")
def test_a_role_is_given_and_taken_back(house: LivingHome) -> None:
    with served(lambda _: Turn("Done.")) as model:
        _add(house, "lan", model.openai)
        assert "fast is lan/small" in house.cli("providers", "use", "fast", "lan/small").stdout
        assert "models of the work itself" in house.cli("providers", "use", "fast").stdout
        assert house.cli("providers", "use", "fast", "nowhere/m").returncode != 0


@promise("LLM-7.accounts", "LLM-2.probes")
def test_a_further_account_serves_and_a_server_that_was_down_is_taken_back(house: LivingHome, project: Path) -> None:
    spent = Turn(status=429, error="slow down", headers={"retry-after": "600"})
    with (
        served([spent, *[Turn("Served.")] * 4]) as vendor,
        served([Turn(status=503, error="busy"), *[Turn("Back.")] * 4]) as away,
    ):
        _add(house, "work", vendor.openai)
        added = house.cli("providers", "add", "work-2", "--account-of", "work", "--key", "vault")
        assert added.returncode == 0, added.stderr
        house.post("/providers/work-2/key", {"key": "sk-second"})
        _add(house, "away", away.openai)
        models = ("--model", "away/m", "--model", "work/m")
        ran = house.cli("run", "say hello", "--dir", str(project), *models)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert "answered by work-2/m" in ran.stdout and "429 rate limited" in ran.stdout
        assert [seen.request.headers.get("authorization") for seen in vendor.requests()][1] == "Bearer sk-second"
        listed = house.cli("providers", "list").stdout
        assert "resting" in listed and "account of work" in listed
        rows = {row["name"]: row for row in house.get("/providers")["items"]}
        assert rows["away"]["health"]["state"] == "failed"
        house.until(
            lambda: {row["name"]: row for row in house.get("/providers")["items"]}["away"]["health"]["state"] == "ok",
            "the probe to find the server again",
        )
        assert len(away.requests()) == 1  # the probe asked for no reply
        assert house.cli("providers", "remove", "work", "--yes").returncode != 0


@promise("LLM-7.repair")
def test_a_call_that_was_put_right_runs_and_is_recorded_as_that(house: LivingHome, project: Path) -> None:
    (project / "a.md").write_text("words of a\n", "utf-8")
    call = Call("read", "{'path': 'a.md',}")
    with served(by_turn(Turn(calls=(call,)), then=Turn("It holds words."))) as model:
        _add(house, "small", model.openai)
        ran = house.cli("run", "read a.md", "--dir", str(project), "--model", "small/m")
    assert "put right in call_1_0: python" in ran.stdout, ran.stdout + ran.stderr
    id = house.get("/objectives")["items"][0]["id"]
    replied = house.bodies(id, "model.replied")[0]
    assert replied["repaired"] == [{"key": "call_1_0", "slips": "python", "original": "{'path': 'a.md',}"}]
    assert house.bodies(id, "tool.finished")[0]["outcome"] == "ok"


@pytest.mark.long
def test_doctor_tries_the_key_of_a_provider_and_says_what_to_do_where_it_is_refused(house: LivingHome) -> None:
    with served([Turn(status=401, error="invalid api key")] * 5) as model:
        _add(house, "lan", _elsewhere(model.openai))
        house.post("/chain", {"chain": [{"provider": "lan", "model": "m-1"}]})
        checked = house.cli("doctor")
        asked = len(model.requests())
    assert checked.returncode != 0 and asked == 1
    assert "lan" in checked.stdout and "401" in checked.stdout
