"""Commands over the wire: what they do, and what becomes of bad ones."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from stead.domain import channels
from stead.domain.errors import (
    BudgetRefused,
    Fenced,
    MachineUnavailable,
    ModelFault,
    PermitRefused,
    SteadError,
    StorageFault,
)
from stead.domain.events import CapSet, ChainSet, Event, SessionOpened, SessionStopped
from stead.domain.ids import HOME, CommandId, SessionId
from stead.web.backend import Pace
from tests.web.door import DEADLINE_S, Door, open_door
from tests.web.simulator import Home


async def give(door: Door, goal: str = "read the README", **fields: Any) -> SessionId:
    """An objective, given over the wire."""
    async with door.cli() as cli:
        answer = await door.post(cli, "/objectives", {"goal": goal, "directory": "/", **fields})
    assert answer.status_code == 201, answer.text
    return SessionId(answer.json()["session"])


async def test_a_goal_becomes_an_objective_and_its_events_carry_the_commands_id(door: Door) -> None:
    async with door.cli() as cli:
        answer = await cli.post(
            "/api/v1/objectives",
            json={"goal": "count the files", "directory": "/", "budget": {"tokens": 1000, "usd_micros": "unlimited"}},
            headers={"Idempotency-Key": "a-key-of-mine"},
        )
        assert answer.status_code == 201
        assert answer.json()["command"] == "a-key-of-mine"
        row = (await cli.get(f"/api/v1/objectives/{answer.json()['session']}")).json()
    assert (row["goal"], row["status"], row["budget"]["tokens"]) == ("count the files", "pending", 1000)
    (event,) = door.home.journal.events(session=answer.json()["session"])
    assert isinstance(event, Event)
    assert isinstance(event.body, SessionOpened) and event.body.contract
    assert event.cause == "a-key-of-mine"
    assert door.home.doors == ["cli"]


async def test_a_command_sent_again_is_carried_out_once(door: Door) -> None:
    async with door.cli() as cli:
        body = {"goal": "only once", "directory": "/"}
        key = {"Idempotency-Key": "the-same-key"}
        answers = await asyncio.gather(*(cli.post("/api/v1/objectives", json=body, headers=key) for _ in range(3)))
        again = await cli.post("/api/v1/objectives", json=body, headers=key)
        other = await cli.post("/api/v1/objectives", json={**body, "goal": "else"}, headers=key)
    carried_out = [answer for answer in (*answers, again) if answer.status_code == 201]
    assert len({answer.text for answer in carried_out}) == 1
    assert again in carried_out
    assert other.status_code == 409
    assert other.json()["error"]["code"] == "conflict"
    assert door.home.journal.head() == 1


async def test_a_whole_number_may_be_written_with_a_point(door: Door) -> None:
    session = await give(door, budget={"tokens": 1000.0, "usd_micros": 5e6}, limits={"iterations": 7.0})
    async with door.cli() as cli:
        row = (await cli.get(f"/api/v1/objectives/{session}")).json()
    assert row["budget"] == {"tokens": 1000, "usd_micros": 5_000_000}


async def test_every_command_on_an_objective_reaches_it(door: Door) -> None:
    session = await give(door)
    async with door.cli() as cli:
        for action, body, status in (
            ("messages", {"text": "mind the licence"}, "pending"),
            ("pause", None, "paused"),
            ("resume", None, "pending"),
            ("revoke", {"tool": "shell"}, "pending"),
            ("stop", {"why": "too loud"}, "paused"),
            ("cancel", None, "cancelled"),
            ("retry", {"budget": {"tokens": 10, "usd_micros": 10}}, "pending"),
            ("cancel", None, "cancelled"),
        ):
            answer = await door.post(cli, f"/objectives/{session}/{action}", body)
            assert answer.status_code == 200, answer.text
            assert answer.json()["session"] == session
            assert (await cli.get(f"/api/v1/objectives/{session}")).json()["status"] == status
        assert (await door.post(cli, f"/objectives/{session}/delete")).status_code == 200
        assert (await door.post(cli, f"/objectives/{session}/delete", {"now": True})).status_code == 200
        assert (await cli.get(f"/api/v1/objectives/{session}")).status_code == 404
        assert (await door.post(cli, f"/objectives/{session}/pause")).status_code == 404
        assert (await door.post(cli, "/stop", {"why": "everything"})).json()["session"] == "home"


async def test_an_answer_counts_once_and_only_for_what_was_shown(door: Door) -> None:
    session = await give(door)
    approval = await door.home.ask(session, "rm -r build")
    async with door.cli() as cli:
        row = (await cli.get(f"/api/v1/approvals/{approval}")).json()
        assert json.loads(row["arguments"]) == {"command": "rm -r build"}
        path = f"/approvals/{approval}/decision"
        other = await door.post(cli, path, {"answer": "once", "digest": "0" * 64})
        assert other.status_code == 409
        first = await door.post(
            cli, path, {"answer": "deny", "digest": row["digest"], "reason": "keep it", "whole": True}
        )
        assert first.status_code == 200
        second = await door.post(cli, path, {"answer": "once", "digest": row["digest"], "whole": True})
        assert second.status_code == 409
        assert "denied" in second.json()["error"]["message"]
        assert (await cli.get("/api/v1/approvals")).json()["items"] == []
        (settled,) = (await cli.get("/api/v1/approvals?status=all")).json()["items"]
    assert (settled["status"], settled["door"]) == ("denied", "cli")


async def test_providers_chain_and_cap_can_be_set(door: Door) -> None:
    async with door.cli() as cli:
        await door.post(
            cli, "/providers", {"name": "mine", "preset": "compatible", "base_url": "http://127.0.0.1:1/v1"}
        )
        assert (await door.post(cli, "/providers/mine/key", {"key": "sk-example-1"})).status_code == 200
        assert (await door.post(cli, "/providers/mine/test")).json()["ok"] is True
        assert (await door.post(cli, "/providers/nobody/test")).status_code == 404
        chain = {"chain": [{"provider": "mine", "model": "small"}]}
        assert (await door.post(cli, "/chain", chain)).status_code == 200
        cap = {"daily": {"tokens": 5000, "usd_micros": "unlimited"}}
        unlimited = {"tokens": "unlimited", "usd_micros": "unlimited"}
        assert (await cli.get("/api/v1/cap")).json()["daily"] == unlimited
        assert (await door.post(cli, "/cap", cap)).status_code == 200
        assert (await cli.get("/api/v1/cap")).json()["daily"] == cap["daily"]
        removed = await cli.delete("/api/v1/providers/mine", headers={"Idempotency-Key": door.key()})
        assert removed.status_code == 200
        assert [row["name"] for row in (await cli.get("/api/v1/providers")).json()["items"]] == ["rehearsal"]
        presets = (await cli.get("/api/v1/providers/presets")).json()["items"]
    assert presets[0]["key_env"] == "EXAMPLE_KEY"
    bodies = [event.body for event in door.home.journal.events() if isinstance(event, Event)]
    assert any(isinstance(body, ChainSet) for body in bodies)
    assert any(isinstance(body, CapSet) for body in bodies)
    assert not any(b"sk-example-1" in repr(body).encode() for body in bodies)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "`directory`"),
        (b"{", "truncated"),
        (b"not json", "malformed"),
        (b"[]", "Expected `object`, got `array`"),
        (b'{"directory": "/"}', "`goal`"),
        (b'{"goal": 7, "directory": "/"}', "`$.goal`"),
        (b'{"goal": "x", "directory": "/", "extra": 1}', "`extra`"),
        (b'{"goal": "x", "directory": "/", "budget": {"tokens": "lots", "usd_micros": 1}}', "`$.budget.tokens`"),
        (b'{"goal": "x", "directory": "/", "budget": {"tokens": 5.5, "usd_micros": 1}}', "`$.budget.tokens`"),
        (b'{"goal": "x", "directory": "/", "limits": {"iterations": true}}', "`$.limits.iterations`"),
        (b'{"x": ' + b"[" * 100_000, "recursion"),
        (b'{"goal": "x", "directory": "/", "budget": {"tokens": -5, "usd_micros": 1}}', "-5 tokens"),
        (b'{"goal": "x", "directory": "/", "profile": "loose"}', "'loose'"),
        (b'{"goal": "\xff", "directory": "/"}', "utf-8"),
        (b'{"goal": "\\ud800", "directory": "/"}', "surrogate"),
        (b'{"goal": " ", "directory": "/"}', "empty"),
        (b'{"goal": "x", "directory": "/no/such/folder"}', "'/no/such/folder'"),
        (b"[" * 100_000, "recursion"),
    ],
)
async def test_a_body_that_does_not_fit_is_refused_with_the_field_and_the_reason(
    door: Door, content: bytes, says: str
) -> None:
    async with door.cli() as cli:
        headers = {"Idempotency-Key": door.key(), "Content-Type": "application/json"}
        answer = await cli.post("/api/v1/objectives", content=content, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "invalid"
    assert says in answer.json()["error"]["message"]
    assert door.home.journal.head() == 0


@pytest.mark.parametrize("key", [None, "short", "x" * 129, "no spaces here", "quote'quote", "café-café"])
async def test_a_command_needs_a_key_of_the_right_form(door: Door, key: str | None) -> None:
    async with door.cli() as cli:
        headers = [(b"Idempotency-Key", key.encode("latin-1"))] if key else []
        answer = await cli.post("/api/v1/objectives", json={"goal": "x", "directory": "/"}, headers=headers)
    assert answer.status_code == 400
    assert "Idempotency-Key" in answer.json()["error"]["message"]


@pytest.mark.parametrize("path", ["/objectives/*/stop", "/objectives/home/pause", "/objectives/s_1/pause", "/nowhere"])
async def test_a_path_that_cannot_be_is_not_found(door: Door, path: str) -> None:
    async with door.cli() as cli:
        answer = await door.post(cli, path)
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"


async def test_a_wrong_method_says_which_is_right(door: Door) -> None:
    async with door.cli() as cli:
        for method, path, allowed in (
            ("PUT", "/objectives", "GET"),
            ("POST", "/status", "GET"),
            ("GET", "/stop", "POST"),
        ):
            answer = await cli.request(method, f"/api/v1{path}")
            assert answer.status_code == 405
            assert allowed in answer.headers["allow"]
            assert answer.json()["error"]["code"] == "method"


async def test_a_goal_of_one_megabyte_is_refused_clearly(door: Door) -> None:
    async with door.cli() as cli:
        answer = await door.post(cli, "/objectives", {"goal": "x" * 1_000_000, "directory": "/"})
        assert answer.status_code == 400
        assert "1 MB" in answer.json()["error"]["message"]
        fits = await door.post(cli, "/objectives", {"goal": "x" * 999_999, "directory": "/"})
        assert fits.status_code == 201


@pytest.mark.parametrize("chunked", [False, True])
async def test_an_oversized_body_is_refused_without_being_kept(door: Door, chunked: bool) -> None:
    async def chunks() -> Any:
        for _ in range(50):
            yield b"x" * 100_000

    content = chunks() if chunked else b"x" * 5_000_000
    async with door.cli() as cli:
        headers = {"Idempotency-Key": door.key(), "Content-Type": "application/json"}
        answer = await cli.post("/api/v1/objectives", content=content, headers=headers)
        assert answer.status_code == 413
        assert answer.json()["error"]["code"] == "too_large"
        assert (await cli.get("/api/v1/status")).status_code == 200


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (Fenced("another runner"), 409),
        (BudgetRefused("the cap"), 402),
        (MachineUnavailable("no sandbox"), 503),
        (StorageFault("the disk is full"), 507),
        (ModelFault("no reply", kind="server"), 502),
        (PermitRefused("no permit"), 500),
    ],
)
async def test_each_fault_has_its_status_and_keeps_its_message(door: Door, fault: SteadError, status: int) -> None:
    door.home.secrets.fault = fault
    async with door.cli() as cli:
        answer = await door.post(cli, "/providers/mine/key", {"key": "k"})
    assert answer.status_code == status
    assert answer.json() == {"error": {"code": fault.code, "message": str(fault)}}


async def test_a_slow_command_goes_on_and_its_answer_is_had_by_asking_again(home: Home, tmp_path: Path) -> None:
    home.hold.clear()
    body, key = {"goal": "slow", "directory": str(tmp_path)}, {"Idempotency-Key": "slow-command"}
    async with open_door(home, Pace(command_s=0.05)) as door, door.cli() as cli:
        first = await cli.post("/api/v1/objectives", json=body, headers=key)
        assert first.status_code == 504
        assert "Idempotency-Key" in first.json()["error"]["message"]
        watcher = home.bus.subscribe()
        home.hold.set()
        async with asyncio.timeout(DEADLINE_S):
            await watcher.next()
        watcher.close()
        again = await cli.post("/api/v1/objectives", json=body, headers=key)
    assert again.status_code == 201
    assert home.journal.head() == 1


async def test_a_command_that_is_sent_again_meanwhile_is_carried_out_once(home: Home, tmp_path: Path) -> None:
    home.hold.clear()
    body, key = {"goal": "slow", "directory": str(tmp_path)}, {"Idempotency-Key": "slow-command"}
    async with open_door(home, Pace(command_s=0.05)) as door, door.cli() as cli:
        assert (await cli.post("/api/v1/objectives", json=body, headers=key)).status_code == 504
        assert (await cli.post("/api/v1/objectives", json=body, headers=key)).status_code == 504
        other = await cli.post("/api/v1/objectives", json={**body, "goal": "another"}, headers=key)
        assert (other.status_code, other.json()["error"]["code"]) == (409, "conflict")
        home.hold.set()
        async with asyncio.timeout(DEADLINE_S):
            while (again := await cli.post("/api/v1/objectives", json=body, headers=key)).status_code == 504:
                continue
    assert again.status_code == 201
    assert len(home.doors) <= 2  # the one that was under way, and one that asked for its answer
    assert home.journal.head() == 1


async def test_stop_is_recorded_with_the_door_it_came_by(door: Door) -> None:
    session = await give(door)
    async with door.browser(await door.sign_in()) as page:
        assert (await door.post(page, f"/objectives/{session}/stop", {"why": "enough"})).status_code == 200
    *_, last = door.home.journal.events(session=session)
    assert isinstance(last, Event)
    assert last.body == SessionStopped(surface="web", why="enough")


async def test_the_read_models_can_be_rebuilt(door: Door) -> None:
    await give(door)
    async with door.cli() as cli:
        assert (await door.post(cli, "/views/rebuild")).json() == {"text": "rebuilt from 1 events"}


async def test_shutdown_asks_the_daemon_to_leave(door: Door) -> None:
    async with door.cli() as cli:
        assert (await door.post(cli, "/shutdown")).status_code == 202
    assert door.left.is_set()


async def test_a_channel_is_set_paired_switched_and_removed_and_its_chats_rights_are_set(door: Door) -> None:
    async with door.cli() as cli:
        wanted = {"name": "quill", "kind": "semaphore", "settings": {"mast": "north"}, "secrets": {"token": "tok"}}
        refused = await door.post(cli, "/channels", wanted)
        assert refused.status_code == 400 and "stead secret add tok" in refused.json()["error"]["message"]
        await door.post(cli, "/secrets", {"name": "tok", "value": "an invented token"})
        assert (await door.post(cli, "/channels", wanted)).status_code == 200
        (kind,) = (await cli.get("/api/v1/channels/kinds")).json()["items"]
        assert [field["name"] for field in kind["fields"] if field["secret"]] == ["token"]
        (row,) = (await cli.get("/api/v1/channels")).json()["items"]
        assert (row["channel"]["secrets"], row["state"]) == ({"token": "tok"}, "connected")
        rights = {"directory": "/home/ada/shop", "profile": "ask"}
        code = await door.post(cli, "/channels/quill/pair", {"rights": rights, "role": "owner", "name": "desk"})
        assert code.json()["code"] == "ABCD-2345"
        assert (await door.post(cli, "/channels/quill/test")).json()["ok"] is True
        for path in ("/channels/none/pair", "/channels/none/test", "/channels/none/switch"):
            given = {"pair": {"rights": rights}, "switch": {"on": False}}.get(path.rpartition("/")[2])
            assert (await door.post(cli, path, given)).status_code == 404
        chat = channels.Chat("quill", "7", "desk", "", True, (channels.Person("1", "owner"),), channels.ChatRights("/"))
        await door.home.record(HOME, channels.ChatSet(chat, chat.door), cause=CommandId("paired-by-itself"))
        keyed = {"Idempotency-Key": door.key()}
        body = {"chat": "7", "name": "office", "people": [{"id": "1", "role": "owner"}], "rights": rights}
        changed = await cli.put("/api/v1/channels/quill/chats", json=body, headers=keyed)
        assert changed.status_code == 200, changed.text
        (row,) = (await cli.get("/api/v1/channels")).json()["items"]
        shown = row["chats"][0]["chat"]
        assert (shown["name"], shown["rights"]["profile"]) == ("office", "ask")
        assert (await door.post(cli, "/channels/quill/chats/remove", {"chat": "7"})).status_code == 200
        assert (await door.post(cli, "/channels/quill/switch", {"on": False})).status_code == 200
        removed = await cli.delete("/api/v1/channels/quill", headers={"Idempotency-Key": door.key()})
        assert removed.status_code == 200
        assert (await cli.get("/api/v1/channels")).json()["items"] == []
