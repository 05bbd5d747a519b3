"""Slack's platform, by its process, against a strict Slack on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from stead.domain import channel_wire as wire
from tests.channels.driving import Driven, channel
from tests.fakes.aimock import WITH_NODE
from tests.fakes.slack import APP_TOKEN, BOT, SECRET, TOKEN, FakeSlack, slack

NODE = Path(__file__).parents[1] / "fakes" / "node" / "slack.mjs"
SOCKET = {"token": TOKEN, "app_token": APP_TOKEN}
SIGNED = {"token": TOKEN, "signing_secret": SECRET}
YES_NO = ((wire.Button("Yes", "y1"), wire.Button("No", "n1")), (wire.Button("All of it", "a1"),))


@asynccontextmanager
async def joined(
    fake: FakeSlack, tokens: Mapping[str, str] = SOCKET, **more: Any
) -> AsyncIterator[tuple[Driven, wire.Up]]:
    """A process that is connected; nothing that it prints may have a token."""
    async with channel("slack", {"api": f"{fake.base}/api/"}, tokens, **more) as driven:
        up = await driven.next(wire.Up)
        yield driven, up
    for secret in (TOKEN, APP_TOKEN, SECRET):
        assert secret.encode() not in driven.output
    assert b"ticket" not in driven.output
    assert b"Traceback" not in driven.output


def message(chat: str, text: str, thread: str = "", **more: Any) -> wire.Send:
    return wire.Send(0, "key", chat, thread, text, **more)


async def answered(driven: Driven, request: wire.Request) -> wire.Response:
    driven.tell(request)
    return await driven.next(wire.Response)


def posted(fake: FakeSlack, body: bytes, n: int = 1, **more: Any) -> wire.Request:
    return wire.Request(n, "POST", "", fake.signed(body, **more), body)


# -- what comes in -----------------------------------------------------------------------------------------------------


async def test_a_private_message_is_taken_in_as_it_reads() -> None:
    async with slack() as fake, joined(fake) as (driven, up):
        assert (up.account, up.name) == (BOT, "@stead")
        ts = await fake.says("see <https://example.com/a?b=1&amp;c|the page>, <@U0BOB> &lt;b&gt; <!here> <#C1|dev>")

        update = await driven.update()
        assert update.text == "see https://example.com/a?b=1&c, @U0BOB <b> @here #dev"
        assert (update.chat, update.thread, update.person, update.private) == ("D0ANN", "", "U0ANN", True)
        assert (update.id, update.addressed) == (f"D0ANN/{ts}", True)
        await fake.says(" /list")
        assert (await driven.update()).text == "/list"


async def test_a_mention_in_a_channel_begins_a_thread_and_other_messages_there_address_nobody() -> None:
    async with slack() as fake, joined(fake) as (driven, _):
        ts = await fake.says(f"<@{BOT}>: look at this", channel="C0DEV")
        called = await driven.update()
        assert (called.text, called.thread, called.addressed, called.private) == ("look at this", ts, True, False)

        await fake.says("among ourselves", channel="C0DEV", type="message", channel_type="channel")
        other = await driven.update()
        assert (other.thread, other.addressed, other.private) == ("", False, False)

        await fake.says("and this?", channel="C0DEV", type="message", thread_ts=ts, parent_user_id=BOT)
        reply = await driven.update()
        assert (reply.thread, reply.addressed) == (ts, True)


async def test_one_message_that_comes_as_two_events_has_one_id() -> None:
    async with slack() as fake, joined(fake) as (driven, _):
        ts = await fake.says(f"<@{BOT}> hello", channel="C0DEV")
        await fake.says(f"<@{BOT}> hello", channel="C0DEV", type="message", channel_type="channel", ts=ts)
        one, two = await driven.update(), await driven.update()
        assert one.id == two.id
        assert one.thread == two.thread == ts


async def test_what_is_shared_from_others_counts_as_theirs_with_its_files_and_calls_nobody() -> None:
    async with slack() as fake, joined(fake) as (driven, _):
        await fake.says(
            "see example.com", attachments=[{"from_url": "https://example.com", "text": "A preview", "id": 1}]
        )
        preview = await driven.update()
        assert (preview.text, preview.forwarded) == ("see example.com", False)
        fake.files["F1"] = "plan.png", b"\x89PNG"
        await fake.shares(
            "/stop &amp; go", files=[{"id": "F1", "name": "plan.png", "mimetype": "image/png", "size": 4}]
        )
        shared = await driven.update()
        assert (shared.text, shared.forwarded, shared.person) == ("/stop & go", True, "U0ANN")
        assert (await driven.ask(wire.Fetch(0, shared.files[0].id))).data == fake.files["F1"][1]
        await fake.shares("do as I say", "look at this")
        noted = await driven.update()
        assert (noted.text, noted.forwarded) == ("look at this\n\ndo as I say", True)
        await fake.shares(f"<@{BOT}> do it", channel="C0DEV", type="message", channel_type="channel")
        assert not (await driven.update()).addressed


async def test_what_bots_and_the_app_itself_write_and_what_is_malformed_is_no_update_and_comes_no_more() -> None:
    async with slack() as fake, joined(fake) as (driven, _):
        await fake.says("a bot", bot_id="B0OTHER")
        await fake.says("itself", user=BOT)
        await fake.says("edited", subtype="message_changed")
        await fake.happens({"type": "reaction_added", "user": "U0ANN"})
        await fake.happens({"type": "message", "channel": ["D0ANN"], "user": {"id": 1}, "ts": None})
        await fake.happens({"type": "message", "channel_type": "im", "user": "U" * 5000, "channel": "D1", "ts": "1.1"})
        await fake.push("events_api", {"no": "event"})
        await fake.push("events_api", ["a list"])  # type: ignore[arg-type]
        await fake.push("interactive", {"type": "view_submission"})
        await fake.push("interactive", {"type": "block_actions", "actions": [{"type": "button"}]})
        await fake.push("slash_commands", {"command": "/x"})
        await fake.says("x" * 200_000)
        await fake.says("a person")

        long, last = await driven.update(), await driven.update()
        assert len(long.text) == wire.MOST_TEXT_CHARS
        assert last.text == "a person"
        await fake.until(lambda: len(fake.acknowledged) == 13)


async def test_an_envelope_is_acknowledged_only_once_it_is_recorded() -> None:
    async with slack() as fake, joined(fake) as (driven, _):
        await fake.says("hello")
        update = await driven.next(wire.Update)
        assert (await driven.ask(wire.Probe(0))).value == "@stead"
        assert not fake.acknowledged

        fake.drop_sockets()
        again = await driven.next(wire.Update)
        assert again.id == update.id
        driven.tell(wire.Ack(again.n))
        await fake.until(lambda: len(fake.acknowledged) == 1)


async def test_files_come_with_a_message_and_the_token_goes_to_no_other_host() -> None:
    async with slack() as fake, slack() as other, joined(fake) as (driven, _):
        fake.files["F1"] = "plan.png", b"\x89PNG" * 1000
        other.files["F2"] = "stolen.png", b"x"
        fake.files["F2"] = "stolen.png", b"x"
        fake.urls["F2"] = f"{other.base}/files-pri/T0TEAM-F2/stolen.png"
        fake.files["F3"] = "huge.bin", b"x" * (wire.MOST_FILE_BYTES + 1)
        about = [
            {"id": "F1", "name": "plan.png", "mimetype": "image/png", "size": 4000},
            {"id": "F2", "name": None, "mimetype": None},
        ]
        await fake.says("look", subtype="file_share", files=about)

        update = await driven.update()
        assert update.files[0] == wire.RemoteFile("F1", "plan.png", "image/png", 4000)
        assert (await driven.ask(wire.Fetch(0, "F1"))).data == fake.files["F1"][1]
        refused = [await driven.ask(wire.Fetch(0, id)) for id in ("F2", "F3", "F4")]
        assert [one.final for one in refused] == [True, True, True]
        assert not other.files_tokens
        fake.urls["F1"] = f"https://files.slack.com.example.com@{other.base.removeprefix('http://')}/a"
        assert (await driven.ask(wire.Fetch(0, "F1"))).final


# -- what goes out -----------------------------------------------------------------------------------------------------


async def test_a_text_is_sent_without_markup_mentions_or_previews_and_with_buttons() -> None:
    async with slack() as fake, joined(fake) as (driven, _):
        text = "<!channel> <@U0ANN> *bold* <https://example.com|here> & more"
        done = await driven.ask(message("C0DEV", text, "1790000000.000001", buttons=YES_NO))
        sent = fake.sent[done.value]
        assert (sent["channel"], sent["thread_ts"]) == ("C0DEV", "1790000000.000001")
        assert sent["text"] == "&lt;!channel&gt; &lt;@U0ANN&gt; *bold* &lt;https://example.com|here&gt; &amp; more"
        assert (sent["mrkdwn"], sent["parse"], sent["unfurl_links"], sent["unfurl_media"]) == (
            False,
            "none",
            False,
            False,
        )
        section, *actions = sent["blocks"]
        assert section["text"] == {"type": "plain_text", "text": sent["text"], "emoji": False}
        assert [[one["value"] for one in block["elements"]] for block in actions] == [["y1", "n1"], ["a1"]]

        assert not (await driven.ask(wire.Edit(0, "C0DEV", done.value, "allowed <by> Ann"))).error
        assert [block["type"] for block in fake.sent[done.value]["blocks"]] == ["section"]
        assert fake.sent[done.value]["text"] == "allowed &lt;by&gt; Ann"


async def test_a_long_text_of_signs_that_are_written_out_still_fits() -> None:
    async with slack() as fake, joined(fake) as (driven, _):
        done = await driven.ask(message("C0DEV", "&" * 3000, buttons=((wire.Button("&" * 40, "y1"),),)))
        assert not done.error
        shown = "".join(
            block["text"]["text"] for block in fake.sent[done.value]["blocks"] if block["type"] == "section"
        )
        assert shown == "&amp;" * 3000
        done = await driven.ask(message("C0DEV", "word " * 3000))
        assert not done.error
        assert fake.shared[-1]["channel_id"] == "C0DEV"


async def test_files_are_sent_into_the_thread() -> None:
    async with slack() as fake, joined(fake) as (driven, _):
        files = (wire.FileOut("a.csv", "text/csv", b"a,b\n1,2\n"), wire.FileOut("b.bin", "", bytes(range(256))))
        done = await driven.ask(message("C0DEV", "both", "1790000000.000001", files=files))
        assert fake.sent[done.value]["text"] == "both"
        assert sorted(fake.files.values()) == [("a.csv", b"a,b\n1,2\n"), ("b.bin", bytes(range(256)))]
        assert (fake.shared[0]["channel_id"], fake.shared[0]["thread_ts"]) == ("C0DEV", "1790000000.000001")
        assert fake.uploads_tokens == ["", ""]


async def test_a_press_says_who_pressed_what_and_is_answered_to_that_person_alone() -> None:
    async with slack() as fake, joined(fake) as (driven, _):
        done = await driven.ask(message("C0DEV", "may I?", "1790000000.000001", buttons=YES_NO))
        pressed = fake.press(done.value, "n1", channel="C0DEV", user="U0EVE", name="directmessage")
        await fake.push("interactive", pressed)
        update = await driven.update()
        assert (update.data, update.person) == ("n1", "U0EVE")
        assert (update.thread, update.private, update.chat) == ("1790000000.000001", False, "C0DEV")

        await fake.push("interactive", pressed)
        assert (await driven.update()).id == update.id == update.press
        driven.tell(wire.Pressed(update.press, "this is <not> for you"))
        await fake.until(lambda: bool(fake.whispers))
        whisper = fake.whispers[0]
        assert (whisper["channel"], whisper["user"], whisper["text"]) == (
            "C0DEV",
            "U0EVE",
            "this is &lt;not&gt; for you",
        )


# -- what goes wrong ---------------------------------------------------------------------------------------------------


async def test_a_limit_is_reported_with_its_hint_and_nothing_is_sent_again_by_itself() -> None:
    async with slack() as fake, joined(fake) as (driven, _):
        fake.faults = ["429:7"]
        done = await driven.ask(message("C0DEV", "hello"))
        assert (done.after_s, done.final, fake.calls["chat.postMessage"]) == (7, False, 1)
        for fault in ("500", "garbage", "drop"):
            fake.faults = [fault]
            done = await driven.ask(message("C0DEV", "hello"))
            assert done.error and not done.final and not done.after_s, fault
        assert fake.calls["chat.postMessage"] == 4
        assert not fake.sent
        done = await driven.ask(message("X", "hello"))
        assert (done.error, done.final) == ("Slack: channel_not_found", True)
        assert (await driven.ask(message("C0DEV", "hello"))).value in fake.sent


async def test_a_token_that_was_revoked_ends_it() -> None:
    async with slack() as fake:
        async with joined(fake) as (driven, _):
            fake.revoked = True
            done = await driven.ask(message("C0DEV", "hello"))
            assert done.error == "Slack: token_revoked" and not done.final, "with another token it can be sent"
            assert (await driven.next(wire.Down)).final
            assert (await driven.ask(wire.Probe(0))).error
            fake.drop_sockets()
            while not (await driven.next(wire.Down)).final:
                pass
        async with channel("slack", {"api": f"{fake.base}/api/"}, SOCKET) as driven:
            assert (await driven.next(wire.Down)).final
        fake.revoked = False
        for tokens in ({"token": TOKEN}, {"token": TOKEN, "app_token": TOKEN}, {"token": "xoxb-no", "app_token": "x"}):
            async with channel("slack", {"api": f"{fake.base}/api/"}, tokens) as driven:
                assert (await driven.next(wire.Down)).final


async def test_slack_renews_a_socket_and_may_switch_it_off() -> None:
    async with slack() as fake, joined(fake) as (driven, _):
        await fake.disconnect("warning")
        await fake.disconnect("refresh_requested")
        await driven.next(wire.Up)
        assert fake.calls["apps.connections.open"] == 2
        await fake.says("still here")
        assert (await driven.update()).text == "still here"
        await fake.until(lambda: len(fake.acknowledged) == 1)
        await fake.disconnect("link_disabled")
        down = await driven.next(wire.Down)
        assert down.final and "switched off" in down.text


async def received(driven: Driven, seen: list[str], fake: FakeSlack, most: int, chance: float = 0.0) -> None:
    """Record updates until there are so many; with a chance, stop after one that was not acknowledged."""
    while len(set(seen)) < most:
        update = await driven.next(wire.Update)
        seen.append(update.text)
        if random.random() < chance:
            return
        driven.tell(wire.Ack(update.n))


@pytest.mark.parametrize("messages", [40, pytest.param(200, marks=pytest.mark.long)])
async def test_nothing_is_lost_when_the_process_is_killed_at_any_moment(messages: int) -> None:
    async with slack() as fake:
        sent = [f"message {number}" for number in range(messages)]
        for text in sent[: messages // 2]:
            await fake.says(text)
        seen: list[str] = []
        rounds = 0
        while len(set(seen)) < messages:
            rounds += 1
            async with joined(fake) as (driven, _):
                if rounds == 2:
                    for text in sent[messages // 2 :]:
                        await fake.says(text)
                await received(driven, seen, fake, messages if rounds > 1 else messages // 2, 2 / messages)
        assert list(dict.fromkeys(seen)) == sent
        assert rounds > 1


@pytest.mark.parametrize("seconds", [4, pytest.param(60, marks=pytest.mark.long)])
async def test_nothing_is_lost_and_all_is_in_order_when_the_socket_drops_every_second(seconds: int) -> None:
    async with slack() as fake, joined(fake) as (driven, _):
        seen: list[str] = []
        sent = [f"message {number}" for number in range(seconds * 25)]
        recording = asyncio.create_task(received(driven, seen, fake, len(sent) + 1))  # what comes again too
        ends = time.monotonic() + seconds
        for number, text in enumerate(sent):
            await fake.says(text)
            if number % 25 == 24:
                fake.drop_sockets()
                await fake.until(lambda: bool(fake.sockets))
        await fake.until(lambda: len(fake.acknowledged) == len(sent))
        recording.cancel()
        assert list(dict.fromkeys(seen)) == sent
        assert time.monotonic() < ends + 30


@pytest.mark.parametrize("tokens", [SOCKET, SIGNED], ids=["socket", "requests"])
async def test_what_slack_gave_up_on_is_read_from_the_history_of_the_private_chats_that_are_known(
    tokens: Mapping[str, str],
) -> None:
    async with slack() as fake:
        async with joined(fake) as (driven, _):
            await fake.says("one")
            await fake.says("from Bob", channel="D0BOB", user="U0BOB")
            await driven.update()
            cursor = (await driven.update()).cursor
            await fake.until(lambda: len(fake.acknowledged) == 2)
        texts = [f"text {number}" for number in range(250)]
        for text in texts:
            await fake.says(text)
        await fake.says("<@U0STEAD> in a channel", channel="C0GENERAL")
        await fake.says("a file", subtype="file_share", files=[{"id": "F1", "name": "a.txt"}])
        await fake.says("with answers", thread_ts=(ts := fake.ts()), ts=ts)
        await fake.says("an answer of ours", user=BOT, bot_id="B0STEAD")
        del fake.written["D0BOB"]  # the app may not read there any more
        fake.give_up()
        async with joined(fake, tokens, cursor=cursor) as (driven, _):
            seen = [await driven.update() for _ in range(252)]
            assert [one.text for one in seen] == [*texts, "a file", "with answers"]
            assert {(one.chat, one.thread, one.person, one.private) for one in seen} == {("D0ANN", "", "U0ANN", True)}
            assert [file.id for file in seen[-2].files] == ["F1"]
            again = seen[-1].cursor
        async with joined(fake, tokens, cursor=again) as (driven, _):
            await fake.until(lambda: fake.calls["conversations.history"] >= 6)
            assert driven.process.returncode is None


async def test_what_is_written_while_the_history_is_read_comes_after_it() -> None:
    async with slack() as fake:
        async with joined(fake) as (driven, _):
            await fake.says("one")
            cursor = (await driven.update()).cursor
            await fake.until(lambda: len(fake.acknowledged) == 1)
        await fake.says("two")
        fake.give_up()
        fake.faults += ["", "", "429:1", "drop", "500"]  # of the first two requests none
        async with joined(fake, cursor=cursor) as (driven, _):
            await fake.says("three")
            seen = [await driven.update() for _ in range(3)]
            assert [one.text for one in seen] == ["two", "three", "three"]
            assert seen[1].id == seen[2].id  # from the history, and from the socket
            await fake.until(lambda: len(fake.acknowledged) == 2)


# -- requests at the listener ------------------------------------------------------------------------------------------


async def test_signed_requests_are_taken_in_and_answered_once_recorded() -> None:
    async with slack() as fake, joined(fake, SIGNED) as (driven, _):
        assert not fake.calls["apps.connections.open"]
        body = json.dumps({"type": "url_verification", "token": "t", "challenge": "c4a11enge"}).encode()
        challenged = await answered(driven, posted(fake, body))
        assert (challenged.status, json.loads(challenged.body)) == (200, {"challenge": "c4a11enge"})

        event = {
            "type": "message",
            "channel_type": "im",
            "channel": "D0ANN",
            "user": "U0ANN",
            "ts": "1.2",
            "text": "hi",
        }
        driven.tell(posted(fake, json.dumps(fake.called(event)).encode(), 2))
        update = await driven.next(wire.Update)
        assert update.text == "hi"
        driven.tell(wire.Ack(update.n))
        assert await driven.next(wire.Response) == wire.Response(2, 200)

        sent = await driven.ask(message("D0ANN", "may I?", buttons=YES_NO))
        body = fake.form(fake.press(sent.value, "y1"))
        driven.tell(posted(fake, body, 3, media="application/x-www-form-urlencoded"))
        update = await driven.update()
        assert (update.data, update.private) == ("y1", True)
        assert (await driven.next(wire.Response)).status == 200


async def test_a_request_without_a_good_and_recent_signature_is_refused_and_a_malformed_one_ends_nothing() -> None:
    async with slack() as fake, joined(fake, SIGNED) as (driven, _):
        event = {
            "type": "message",
            "channel_type": "im",
            "channel": "D0ANN",
            "user": "U0ANN",
            "ts": "1.2",
            "text": "hi",
        }
        body = json.dumps(fake.called(event)).encode()
        good = fake.signed(body)
        forged: list[tuple[dict[str, str], bytes]] = [
            ({}, body),
            (good, body + b" "),
            (good | {"x-slack-signature": "v0=" + "0" * 64}, body),
            (good | {"x-slack-signature": "v0=é"}, body),
            (good | {"x-slack-request-timestamp": "soon"}, body),
            (good | {"x-slack-request-timestamp": "9" * 400}, body),
            (fake.signed(body, at=int(time.time()) - 400), body),
            (fake.signed(body, at=int(time.time()) + 400), body),
            (fake.signed(b"\xff\xfe"), b"\xff\xfe"),
        ]
        for number, (headers, sent) in enumerate(forged):
            response = await answered(driven, wire.Request(number, "POST", "", headers, sent))
            assert response.status == 401, number
        odd = [b"", b"[]", b"{", b'{"type": 1}', b"[" * 5000, b'{"type": "event_callback", "event": "x"}']
        for number, sent in enumerate(odd):
            assert (await answered(driven, posted(fake, sent, number))).status == 400, sent[:50]
        for number, sent in enumerate([b"payload=%7B", b"payload=1", b"x=1", b"", b"payload=%FF"]):
            request = posted(fake, sent, number, media="application/x-www-form-urlencoded")
            assert (await answered(driven, request)).status == 200
        driven.tell(posted(fake, body, 77))
        assert (await driven.update()).text == "hi"


async def test_a_request_that_cannot_be_taken_yet_is_refused_with_the_reason_for_the_owner() -> None:
    async with slack() as fake, channel("slack", {"api": "http://127.0.0.1:9/api/"}, SIGNED) as driven:
        body = json.dumps({"type": "url_verification", "token": "t", "challenge": "c4a11enge"}).encode()
        assert await answered(driven, posted(fake, body)) == wire.Response(1, 503, error="not connected yet")


async def test_without_a_signing_secret_no_request_is_taken() -> None:
    async with slack() as fake, joined(fake) as (driven, _):
        body = b'{"type": "url_verification", "challenge": "x"}'
        assert (await answered(driven, posted(fake, body))).status == 401


# -- the fake itself ---------------------------------------------------------------------------------------------------


async def test_a_second_library_gets_on_with_the_fake() -> None:
    async with slack() as fake, AsyncExitStack() as stack:
        process = await asyncio.create_subprocess_exec(
            str(WITH_NODE),
            "node",
            str(NODE),
            *(fake.base, TOKEN, APP_TOKEN),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={"PATH": os.environ["PATH"]},
        )
        stack.callback(_ended, process)
        assert process.stdout and process.stdin

        async def line() -> dict[str, Any]:
            assert process.stdout
            async with asyncio.timeout(60):
                return dict(json.loads(await process.stdout.readline()))

        assert await line() == {"me": BOT}
        await fake.says("hello")
        heard = await line()
        assert heard | {"ts": ""} == {"message": "hello", "ts": "", "file": "a.txt", "size": 3, "refused": "no_text"}
        await fake.push("interactive", fake.press(heard["ts"], "y1"))
        assert await line() == {"pressed": "y1", "by": "U0ANN"}
        assert fake.sent[heard["ts"]]["text"] == "done"
        assert fake.whispers[0]["text"] == "thanks"
        await fake.until(lambda: len(fake.acknowledged) == 2)
        process.stdin.close()
        await process.wait()


def _ended(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()
