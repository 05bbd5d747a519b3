"""Signal, against a strict signal-cli: its process takes in, sends, edits, and loses no more than it has to."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import aiohttp
import jsonschema  # type: ignore[import-untyped]
import pytest

from stead.channels import signal_cli as platform
from stead.domain import channel_wire as wire
from tests.channels.driving import Driven, channel
from tests.egress.bench import make_certificate
from tests.fakes.faults import answers, hangs_up
from tests.fakes.http import Exchange, Request
from tests.fakes.relay import Relay, relay
from tests.fakes.signal_cli import GROUP, RECEIVED, Refused, SignalCli, signal_cli

BOT = "+4915550100"
ANNA, BEN = "11111111-2222-4333-8444-555555555555", "66666666-2222-4333-8444-555555555555"
SECOND = Path(__file__).parents[2] / ".setup/second/bin/python"


@asynccontextmanager
async def driven(
    server: SignalCli, through: Relay | None = None, url: str = "", ca: str = "", **constants: float
) -> AsyncIterator[Driven]:
    environment = through.environment if through else {}
    settings = {"url": url or server.url, "account": BOT}
    async with channel("signal", settings, {}, environment=environment, ca=ca, constants=constants) as process:
        yield process


@pytest.mark.parametrize("alone", [True, False])
async def test_a_message_is_heard_and_answered(alone: bool) -> None:
    async with signal_cli(BOT, alone=alone) as server, driven(server) as process:
        assert (await process.next(wire.Up)).account == BOT
        at = server.say(ANNA, "good morning")
        update = await process.update()
        assert (update.id, update.chat, update.person) == (f"{at}-{ANNA}", ANNA, ANNA)
        assert (update.text, update.name, update.sent_ms) == ("good morning", "Anna", at)
        assert update.private
        assert update.addressed
        done = await process.ask(wire.Send(0, "k", ANNA, "", "good morning to you"))
        assert done.value == str(server.sent[0]["timestamp"])
        assert server.sent[0]["recipient"] == [ANNA]
        edited = await process.ask(wire.Edit(0, ANNA, done.value, "good day"))
        assert not edited.error
        assert (server.sent[1]["message"], server.sent[1]["editTimestamp"]) == ("good day", int(done.value))
        process.tell(wire.Typing(ANNA, ""))
        assert (await process.ask(wire.Probe(0))).value == BOT
        while "sendTyping" not in server.calls:
            await asyncio.sleep(0.01)  # nothing answers it


async def test_in_a_group_a_bot_is_meant_when_it_is_called_or_answered() -> None:
    garden = {"groupId": GROUP, "groupName": "The garden", "revision": 1, "type": "DELIVER"}
    mark = "\N{OBJECT REPLACEMENT CHARACTER}"
    ben = {"name": BEN, "number": None, "uuid": BEN, "start": 0, "length": 1}
    async with signal_cli(BOT) as server, driven(server) as process:
        server.say(ANNA, "shall we water?", groupInfo=garden)
        heard = await process.update()
        assert (heard.chat, heard.title, heard.private, heard.addressed) == (GROUP, "The garden", False, False)
        server.say(ANNA, f"{mark} ask {mark}", groupInfo=garden, mentions=[{**ben, "number": BOT}, ben])
        heard = await process.update()
        assert (heard.text, heard.addressed) == (f"ask @{BEN}", True)
        server.say(ANNA, f"{mark} ask", groupInfo=garden, mentions=[ben])
        assert not (await process.update()).addressed
        quoted = {"id": 1, "author": BOT, "authorNumber": BOT, "authorUuid": None, "text": "x", "attachments": []}
        server.say(ANNA, "yes", groupInfo=garden, quote=quoted)
        assert (await process.update()).addressed
        server.say(ANNA, "yes", groupInfo=garden, quote={**quoted, "authorNumber": None, "authorUuid": BEN})
        assert not (await process.update()).addressed
        assert not (await process.ask(wire.Send(0, "k", GROUP, "", "watered"))).error
        assert server.sent[0]["groupId"] == GROUP


async def test_files_come_and_go() -> None:
    async with signal_cli(BOT) as server, driven(server) as process:
        server.attachments = {"a.jpg": b"a picture" * 1000, "b.mp4": b"x" * (wire.MOST_FILE_BYTES + 1)}
        about: list[dict[str, Any]] = [
            {"contentType": "image/jpeg", "filename": None, "id": "a.jpg", "size": 9000},
            {"contentType": "video/mp4", "filename": "film.mp4", "id": "b.mp4", "size": wire.MOST_FILE_BYTES + 1},
        ]
        server.say(ANNA, attachments=about)
        heard = await process.update()
        assert [(one.name, one.media_type) for one in heard.files] == [
            ("a.jpg", "image/jpeg"),
            ("film.mp4", "video/mp4"),
        ]
        assert (await process.ask(wire.Fetch(0, heard.files[0].id))).data == server.attachments["a.jpg"]
        refused = await process.ask(wire.Fetch(0, heard.files[1].id))
        assert refused.final
        assert "5 MB" in refused.error
        assert (await process.ask(wire.Fetch(0, f"{ANNA}/../../data"))).final
        named = wire.FileOut("a;b,c \u00e4.txt", "text/plain;x", b"here")
        assert not (await process.ask(wire.Send(0, "k", ANNA, "", "", files=(named,)))).error
        media, name, data = server.sent[0]["attachment"][0].split(";")
        assert (media, unquote(name), data) == (
            "data:application/octet-stream",
            f"filename={named.name}",
            "base64,aGVyZQ==",
        )


NO_MESSAGES: list[dict[str, Any]] = [
    {"receiptMessage": {"when": 1, "isDelivery": True, "isRead": False, "isViewed": False, "timestamps": [1]}},
    {"typingMessage": {"action": "STARTED", "timestamp": 1}},
    {"syncMessage": {"sentMessage": {"destination": ANNA, "timestamp": 1, "message": "our own, from another device"}}},
    {"editMessage": {"targetSentTimestamp": 1, "dataMessage": {"timestamp": 2, "message": "x", "expiresInSeconds": 0}}},
    {"dataMessage": {"timestamp": 1, "message": None, "expiresInSeconds": 0, "reaction": {"emoji": "x"}}},
    {"dataMessage": {"timestamp": 1, "message": "x", "expiresInSeconds": 0, "storyContext": {"sentTimestamp": 1}}},
    {
        "dataMessage": {
            "timestamp": 1,
            "message": "x",
            "expiresInSeconds": 0,
            "groupInfo": {"groupId": GROUP, "type": "UPDATE"},
        }
    },
    # what no signal-cli makes, or what its words would have to be bent into
    {"dataMessage": {"timestamp": "soon", "message": "x"}},
    {"dataMessage": {"timestamp": 1, "message": {"x": 1}}},
    {"dataMessage": {"timestamp": 1, "message": "x", "groupInfo": {"groupId": ANNA, "type": "DELIVER"}}},
    {"dataMessage": {"timestamp": 1, "message": "x", "groupInfo": {"groupId": "g" * 900, "type": "DELIVER"}}},
    {"dataMessage": {"timestamp": 1, "message": "x", "mentions": 5, "attachments": "none"}},
    {"dataMessage": []},
    {"sourceUuid": None, "dataMessage": {"timestamp": 1, "message": "x"}},
    {"sourceUuid": "../" + ANNA, "dataMessage": {"timestamp": 1, "message": "x"}},
]


async def test_what_is_no_message_of_a_person_is_no_update() -> None:
    async with signal_cli(BOT) as server, driven(server) as process:
        for content in NO_MESSAGES:
            server.envelope(ANNA, lambda _, content=content: content)  # type: ignore[misc]
        server.raw({"envelope": {"x": 1}, "exception": {"message": "untrusted", "type": "UntrustedIdentityException"}})
        large = [{"contentType": "c" * 900, "filename": "f" * 900, "id": "i" * 900, "size": -5}] * 40
        server.say(ANNA, "x" * 300_000, attachments=large)
        heard = await process.update()
        assert len(heard.text) == wire.MOST_TEXT_CHARS
        assert len(heard.files) == 20
        assert process.process.returncode is None
        assert b'"down"' not in process.output


async def test_killed_at_any_point_it_loses_at_most_what_was_on_its_way() -> None:
    messages, kills, chance = 60, 6, random.Random(27)
    async with signal_cli(BOT) as server:
        texts = {server.say(ANNA, str(number)): str(number) for number in range(messages)}
        recorded: dict[str, str] = {}
        for round in range(kills + 1):
            async with driven(server) as process:
                most = chance.randrange(1, messages // kills) if round < kills else messages
                for _ in range(most):
                    if len(recorded) + round >= messages:
                        break
                    update = await process.update()
                    recorded[update.id] = update.text
                if round < kills:
                    await process.next(wire.Update)  # on its way, and not recorded
        assert list(recorded.values()) == sorted(recorded.values(), key=int)
        lost = [text for at, text in texts.items() if f"{at}-{ANNA}" not in recorded]
        assert len(lost) == kills
        assert len(server.handed) == len(set(server.handed)) == messages


async def test_one_that_was_killed_while_it_waited_is_waited_for() -> None:
    async with signal_cli(BOT) as server:
        async with driven(server, WAIT_S=3.0) as process:
            while "receive" not in server.calls:
                await process.ask(wire.Probe(0))
        async with driven(server, WAIT_S=3.0) as process:
            await process.next(wire.Up)
            server.say(ANNA, "for the one that is gone")  # signal-cli has no way to know it
            async with asyncio.timeout(20):
                while server.calls.count("receive") < 3:
                    await process.ask(wire.Probe(0))
            server.say(ANNA, "still there?")
            assert (await process.update()).text == "still there?"
        assert b'"Down"' not in process.output


async def test_messages_that_go_to_another_reader_are_no_connection_that_looks_alive() -> None:
    async with signal_cli(BOT) as server, aiohttp.ClientSession() as another:
        wanted = {"timeout": 8}
        call = {"jsonrpc": "2.0", "id": 1, "method": "receive", "params": wanted}
        taking = asyncio.create_task(_posted(another, server, call))
        while "receive" not in server.calls:
            await asyncio.sleep(0)
        async with driven(server, WAIT_S=1.0) as process:
            await process.next(wire.Up)
            down = await process.next(wire.Down)
            assert "--receive-mode=manual" in down.text
            assert not down.final
            await taking
            await process.next(wire.Up)
            server.say(ANNA, "and now?")
            assert (await process.update()).text == "and now?"


async def _posted(client: aiohttp.ClientSession, server: SignalCli, call: dict[str, Any]) -> None:
    async with client.post(f"{server.url}/api/v1/rpc", json=call) as answer:
        await answer.read()


async def test_dropped_connections_keep_the_order() -> None:
    async with signal_cli(BOT) as server, relay() as between, driven(server, between) as process:
        await process.next(wire.Up)
        heard = []
        for number in range(30):
            server.say(ANNA, str(number))
            heard.append((await process.update()).text)
            if number in (10, 20):
                server.say(ANNA, "read by signal-cli, for a connection that was cut")
                while not between.drop():
                    await asyncio.sleep(0)
        assert [one for one in heard if one.isdigit()] == [one for one in sorted(heard, key=_number) if one.isdigit()]
        assert len(heard) == 30


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0


async def test_a_server_that_asks_to_wait_is_left_alone() -> None:
    limited = {"response": {"timestamp": 1, "results": [{"type": "RATE_LIMIT_FAILURE", "retryAfterSeconds": 75}]}}
    network = {"response": {"timestamp": 1, "results": [{"type": "NETWORK_FAILURE"}]}}
    async with signal_cli(BOT) as server, driven(server) as process:
        cases: list[tuple[Refused, float, bool]] = [
            (Refused(-5, "Failed to send message due to rate limiting", limited), 75.0, False),
            (Refused(-5, "Failed to send message due to rate limiting"), 60.0, False),
            (Refused(-1, "Failed to send message", network), 0.0, False),
            (Refused(-1, "Failed to send message", {"response": {"results": "x"}}), 0.0, True),
            (Refused(-4, "Failed to send message due to untrusted identities"), 0.0, True),
            (Refused(-3, "no network"), 0.0, False),
        ]
        for refused, wait_s, final in cases:
            server.next("send", refused)
            done = await process.ask(wire.Send(0, "k", ANNA, "", "hello"))
            assert str(refused) in done.error
            assert (done.after_s, done.final) == (wait_s, final)
        assert server.calls.count("send") == len(cases)
        assert not server.sent


async def test_with_tls_it_goes_through_the_proxy_to_a_server_that_it_was_told_to_trust(tmp_path: Path) -> None:
    tls, certificate = make_certificate(tmp_path, "localhost")
    async with signal_cli(BOT) as server, relay() as between, relay(server.url, tls) as front:
        url = f"https://localhost:{front.port}"
        async with driven(server, between, url, certificate.read_text()) as process:
            server.say(ANNA, "hello")
            assert (await process.update()).text == "hello"
        assert {one.method for one in between.requests} == {"CONNECT"}
        async with driven(server, between, url) as process:
            assert "certificate" in (await process.next(wire.Down)).text.casefold()


async def test_nonsense_from_the_server_ends_no_process() -> None:
    flooded = False

    async def floods(_: Request, exchange: Exchange) -> None:
        nonlocal flooded
        await exchange.start({"content-type": "application/json"})
        for _number in range(100):
            await exchange.chunk(b" " * 1_000_000)
        flooded = True

    async with signal_cli(BOT) as server, driven(server) as process:
        await process.next(wire.Up)
        worst = [
            answers(500, b"oh no"),
            answers(200, b"[]"),
            answers(200, b'{"jsonrpc": "2.0", "id": 77777, "result": {}}'),
            answers(200, b'{"jsonrpc": "2.0", "id": 1, "error": {"code": "x"}}'),
            answers(200, b"\xff not JSON"),
            floods,
            answers(201, b""),
            hangs_up(),
        ]
        for fault in worst:
            server.next("send", fault)
            done = await process.ask(wire.Send(0, "k", ANNA, "", "hello"))
            assert done.error
            assert not done.final
        assert not flooded
        server.next("receive", worst[4])
        server.say(ANNA, "still there?")
        assert (await process.update()).text == "still there?"


async def test_an_account_that_is_lost_keeps_what_is_to_be_sent_and_works_again_by_itself() -> None:
    async with signal_cli(BOT) as server, driven(server, WAIT_S=1.0) as process:
        await process.next(wire.Up)
        server.accounts.clear()  # it was unlinked on the phone
        for _ in range(2):
            done = await process.ask(wire.Send(0, "k", ANNA, "", "hello"))
            assert not done.final
            assert "Register or link" in done.error
        down = await process.next(wire.Down)
        assert not down.final
        assert BOT in down.text
        assert "Register or link" in down.text
        assert not (await process.ask(wire.Probe(0))).final
        server.accounts.append(BOT)
        await process.next(wire.Up)
        assert not (await process.ask(wire.Send(0, "k", ANNA, "", "hello"))).error
        server.say(ANNA, "still there?")
        assert (await process.update()).text == "still there?"
        assert len(server.sent) == 1


async def test_an_account_that_signal_cli_could_not_load_as_it_began_is_loaded() -> None:
    async with signal_cli(BOT) as server:
        server.unloaded.add(BOT)
        async with driven(server) as process:
            await process.next(wire.Up)
            assert b'"down"' not in process.output


async def test_signal_cli_may_be_started_again_for_one_account_alone_or_for_several() -> None:
    async with signal_cli(BOT, alone=True) as server, driven(server, WAIT_S=0.5) as process:
        await process.next(wire.Up)
        for alone in (False, True):
            server.alone, server.accounts = alone, [BOT] if alone else [BOT, "+4915550199"]
            assert not (await process.next(wire.Down)).final
            await process.next(wire.Up)
            assert not (await process.ask(wire.Send(0, "k", ANNA, "", "hello"))).error


async def test_the_messages_of_another_account_are_not_taken() -> None:
    async with signal_cli("+4915550199", alone=True) as server, driven(server) as process:
        await process.next(wire.Up)
        server.say(ANNA, "for somebody else")
        assert (await process.next(wire.Down)).final
        assert b"for somebody else" not in process.output


def test_what_the_fake_hands_over_has_the_documented_form() -> None:
    server = SignalCli(BOT, alone=True)
    mention = {"name": BEN, "number": BOT, "uuid": BEN, "start": 0, "length": 1}
    server.say(ANNA, "x", mentions=[mention], groupInfo={"groupId": GROUP, "type": "DELIVER"})
    server.say(ANNA, attachments=[{"contentType": "image/png", "filename": None, "id": "a.png", "size": 1}])
    for item in server._waiting:
        jsonschema.validate(item, RECEIVED)


async def test_a_second_client_accepts_the_fake() -> None:
    said = """
import json, sys, types
# It guesses types of files by a library of the system, which is no matter here.
sys.modules["magic"] = types.SimpleNamespace(from_buffer=lambda *a, **k: "text/plain", from_file=None)
from pysignalclijsonrpc import SignalCliJSONRPCApi
api = SignalCliJSONRPCApi(endpoint=sys.argv[1] + "/api/v1/rpc", account=sys.argv[2])
sent = api.send_message(recipients=["+4915550111"], message="hello", attachments_as_bytes=[bytearray(b"here")])
print(json.dumps([api.version, sent, api.list_groups()]))
"""
    async with signal_cli(BOT) as server:
        process = await asyncio.create_subprocess_exec(
            *(SECOND, "-c", said, server.url, BOT), stdout=asyncio.subprocess.PIPE, env={"NO_PROXY": "*"}
        )
        output, _ = await process.communicate()
        assert process.returncode == 0
        version, sent, groups = json.loads(output)
        assert (version, groups[0]["id"]) == ("0.14.6", GROUP)
        assert list(sent["timestamps"].values()) == [{"recipients": ["+4915550111"]}]
        assert server.sent[0]["attachment"] == ["data:text/plain;base64,aGVyZQ=="]


def test_the_window_is_as_long_as_its_guide_says() -> None:
    guide = Path(__file__).parents[2] / "docs/how-to/channels/signal.md"
    assert f"{platform.WAIT_S:.0f} seconds" in guide.read_text()
