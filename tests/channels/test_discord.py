"""Discord's platform, by its process, against a strict Discord on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from stead.domain import channel_wire as wire
from tests.channels.driving import Driven, channel
from tests.fakes.aimock import WITH_NODE
from tests.fakes.discord import ANN, BOT, DM, EVE, GENERAL, THREAD, TOKEN, FakeDiscord, discord

NODE = Path(__file__).parents[1] / "fakes" / "node" / "discord.mjs"
PYTHON = Path(__file__).parents[1] / "fakes" / "discord_client.py"
YES_NO = ((wire.Button("Yes", "y1"), wire.Button("No", "n1")), (wire.Button("All of it", "a1"),))


@asynccontextmanager
async def joined(fake: FakeDiscord, **more: Any) -> AsyncIterator[Driven]:
    """A process that is connected; nothing that it prints may have a token."""
    async with channel("discord", {"api": f"{fake.base}/api/v10"}, {"token": TOKEN}, **more) as driven:
        await driven.next(wire.Up)
        await fake.until(lambda: fake.connected)
        yield driven
    assert TOKEN.encode() not in driven.output
    assert b"interaction-" not in driven.output
    assert b"Traceback" not in driven.output


def message(chat: str, text: str, thread: str = "", key: str = "key", **more: Any) -> wire.Send:
    return wire.Send(0, key, chat, thread, text, **more)


# -- what comes in -----------------------------------------------------------------------------------------------------


async def test_a_private_message_is_taken_in() -> None:
    async with discord() as fake, channel("discord", {"api": f"{fake.base}/api/v10"}, {"token": TOKEN}) as driven:
        up = await driven.next(wire.Up)
        assert (up.account, up.name) == (BOT, "@stead")
        id = await fake.says("hello *there*")
        update = await driven.update()
        assert (update.id, update.text, update.chat, update.thread) == (id, "hello *there*", DM, "")
        assert (update.person, update.name, update.private, update.addressed) == (ANN, "Ann", True, True)


async def test_in_a_server_only_what_is_meant_for_the_bot_is_taken_and_a_thread_belongs_to_its_channel() -> None:
    async with discord() as fake, joined(fake) as driven:
        await fake.says("among ourselves", channel=GENERAL)
        await fake.says(f"<@{BOT}>, look at this", channel=GENERAL)
        called = await driven.update()
        assert (called.text, called.chat, called.thread) == ("look at this", GENERAL, "")
        assert (called.private, called.addressed, called.title) == (False, True, "general")

        await fake.says(f"is <@!{BOT}> there?", channel=THREAD)
        asked = await driven.update()
        assert (asked.text, asked.chat, asked.thread) == ("is @Stead there?", GENERAL, THREAD)
        assert fake.calls["GET channels/ID"] == 2

        reply = {"author": {"id": BOT, "username": "stead", "bot": True}}
        mention = [{"id": BOT, "username": "stead", "bot": True}]
        await fake.says("yes", channel=THREAD, type=19, referenced_message=reply, mentions=mention)
        assert (await driven.update()).text == "yes"


async def test_what_is_forwarded_counts_as_what_others_wrote_with_its_files() -> None:
    async with discord() as fake, joined(fake) as driven:
        await fake.says("my own words", message_reference={"type": 0, "channel_id": DM, "message_id": "1"})
        assert not (await driven.update()).forwarded
        fake.files["plan.png"] = b"\x89PNG"
        url = f"{fake.base}/attachments/1/1/plan.png"
        file = {"id": "1", "filename": "plan.png", "size": 4, "url": url, "content_type": "image/png"}
        await fake.forwards("/stop", attachments=[file])
        update = await driven.update()
        assert (update.text, update.forwarded, update.person) == ("/stop", True, ANN)
        assert (await driven.ask(wire.Fetch(0, update.files[0].id))).data == fake.files["plan.png"]
        await fake.forwards(f"<@{BOT}> do it", channel=GENERAL)  # words of others call nobody
        await fake.says("", message_snapshots=[{"message": None}])
        await fake.says("the last")
        assert (await driven.update()).text == "the last"


async def test_what_bots_and_webhooks_write_and_what_is_malformed_is_no_update_and_ends_nothing() -> None:
    async with discord() as fake, joined(fake) as driven:
        await fake.says("a bot", author={"id": EVE, "username": "other", "bot": True})
        await fake.says("a webhook", webhook_id="1")
        await fake.says("joined", type=7)
        await fake.says("")
        await fake.dispatch("MESSAGE_CREATE", {"id": "../../x", "channel_id": DM, "author": {"id": ANN}})
        await fake.dispatch("MESSAGE_CREATE", {"id": 5})
        await fake.dispatch("MESSAGE_CREATE", ["a list"])
        await fake.dispatch("MESSAGE_CREATE", None)
        await fake.dispatch("INTERACTION_CREATE", {"id": "1", "type": 2, "token": "x"})
        await fake.dispatch("GUILD_CREATE", {"id": "x" * 100_000})
        await fake.tell({"op": 99, "d": "?"})
        await fake.tell({"op": "no"})
        await fake.tell({"op": 0, "t": 5, "s": "x", "d": 1})
        for session in fake.sessions.values():
            assert session.socket is not None
            await session.socket.send_str("[" * 5000)
            await session.socket.send_bytes(b"\xff")
        await fake.says("x" * 200_000)
        await fake.says("a person")
        long, last = await driven.update(), await driven.update()
        assert len(long.text) == wire.MOST_TEXT_CHARS
        assert last.text == "a person"


async def test_files_come_with_a_message_from_discords_files_alone_and_without_the_token() -> None:
    async with discord() as fake, discord() as other, joined(fake) as driven:
        fake.files["plan.png"], fake.files["huge.bin"] = b"\x89PNG" * 1000, b"x" * (wire.MOST_FILE_BYTES + 1)
        other.files["stolen.png"] = b"x"
        about = [
            {"id": str(number), "filename": url.rpartition("/")[2], "size": 4000, "url": url, "content_type": kind}
            for number, (url, kind) in enumerate(
                [
                    (f"{fake.base}/attachments/1/1/plan.png", "image/png"),
                    (f"{other.base}/attachments/1/2/stolen.png", None),
                    (f"{fake.base}/attachments/1/3/huge.bin", None),
                    (f"{fake.base}/attachments/1/4/gone.bin", None),
                    (f"https://cdn.discordapp.com@{other.base.removeprefix('http://')}/attachments/1/2/s.png", None),
                ],
                1,
            )
        ]
        id = await fake.says("look", attachments=about)
        update = await driven.update()
        assert update.files[0] == wire.RemoteFile(f"{DM}/{id}/1", "plan.png", "image/png", 4000)
        done = [await driven.ask(wire.Fetch(0, file.id)) for file in update.files]
        assert done[0].data == fake.files["plan.png"]
        assert [(bool(one.error), one.final) for one in done] == [(False, False), *[(True, True)] * 4]
        assert not other.files_tokens
        assert set(fake.files_tokens) == {""}


# -- what goes out -----------------------------------------------------------------------------------------------------


async def test_a_text_is_sent_without_markup_mentions_or_previews_and_with_buttons() -> None:
    async with discord() as fake, joined(fake) as driven:
        text = f"@everyone <@{ANN}> *bold* [here](https://example.com/a_b_c) ||no||\n# head\n- item"
        done = await driven.ask(message(GENERAL, text, THREAD, buttons=YES_NO))
        channel, _, id = done.value.partition("/")
        sent = fake.sent[id]
        assert channel == sent["channel_id"] == THREAD
        escaped = f"@everyone \\<@{ANN}\\> \\*bold\\* \\[here\\](https://example.com/a_b_c) "
        escaped += "\\|\\|no\\|\\|\n\\# head\n\\- item"
        assert sent["content"] == escaped
        assert sent["allowed_mentions"] == {"parse": []}
        assert sent["flags"] == 4
        assert [[one["custom_id"] for one in row["components"]] for row in sent["components"]] == [["y1", "n1"], ["a1"]]

        assert not (await driven.ask(wire.Edit(0, GENERAL, done.value, "allowed by *Ann*"))).error
        assert (sent["content"], sent["components"]) == ("allowed by \\*Ann\\*", [])


async def test_a_message_that_is_sent_again_under_its_key_stands_there_once() -> None:
    async with discord() as fake, joined(fake) as driven:
        one = await driven.ask(message(DM, "hello", key="a"))
        again = await driven.ask(message(DM, "hello", key="a"))
        other = await driven.ask(message(DM, "hello", key="b"))
        assert one.value == again.value != other.value
        assert len(fake.sent) == 2
        unkeyed = [await driven.ask(message(DM, "a change is shown", key="")) for _ in range(2)]
        assert unkeyed[0].value != unkeyed[1].value


async def test_a_long_text_of_signs_that_are_escaped_still_fits() -> None:
    async with discord() as fake, joined(fake) as driven:
        done = await driven.ask(message(DM, "*" * 2000, buttons=YES_NO))
        assert [one["content"] for one in fake.sent.values()] == ["\\*" * 1000] * 2
        assert fake.sent[done.value.rpartition("/")[2]]["components"]
        assert not (await driven.ask(wire.Edit(0, DM, done.value, "*" * 2000))).error
        assert not (await driven.ask(message(DM, "word " * 3000, key="b"))).error
        assert set(fake.uploads) == {"answer.txt"}


async def test_files_are_sent() -> None:
    async with discord() as fake, joined(fake) as driven:
        files = (wire.FileOut("a[1].csv", "text/csv", b"a,b\n1,2\n"), wire.FileOut("b.bin", "", bytes(range(256))))
        done = await driven.ask(message(GENERAL, "both", THREAD, files=files))
        assert fake.sent[done.value.rpartition("/")[2]]["content"] == "both"
        assert fake.uploads == {"a[1].csv": b"a,b\n1,2\n", "b.bin": bytes(range(256))}
        assert not (await driven.ask(message(DM, "", files=files[:1], key="b"))).error
        forged = 'x"\r\n\r\n{}\r\n--b\r\nContent-Disposition: form-data; name="payload_json"'
        done = await driven.ask(message(DM, "", files=(wire.FileOut(forged, "", b"x"),), key="c"))
        assert not done.error
        assert fake.sent[done.value.rpartition("/")[2]]["allowed_mentions"] == {"parse": []}
        driven.tell(wire.Typing(GENERAL, THREAD))
        await fake.until(lambda: fake.typed == [THREAD])


async def test_a_press_is_deferred_at_once_and_its_outcome_is_told_to_that_person_alone() -> None:
    async with discord() as fake, joined(fake) as driven:
        done = await driven.ask(message(GENERAL, "may I?", THREAD, buttons=YES_NO))
        id = await fake.press(done.value, "n1", user=EVE)
        update = await driven.next(wire.Update)
        await fake.until(lambda: fake.pressed == {id: 6})
        driven.tell(wire.Ack(update.n))
        assert (update.id, update.press, update.data) == (id, id, "n1")
        assert (update.person, update.chat, update.thread, update.private) == (EVE, GENERAL, THREAD, False)
        driven.tell(wire.Pressed(id, "this is *not* for you"))
        await fake.until(lambda: bool(fake.followups))
        assert (fake.followups[0]["content"], fake.followups[0]["flags"]) == ("this is \\*not\\* for you", 68)
        driven.tell(wire.Pressed("12", "nobody"))
        assert not (await driven.ask(wire.Probe(0))).error


# -- what goes wrong ---------------------------------------------------------------------------------------------------


async def test_a_limit_is_reported_with_its_hint_and_nothing_is_sent_again_by_itself() -> None:
    async with discord() as fake, joined(fake) as driven:
        fake.faults = ["429:7.5"]
        done = await driven.ask(message(DM, "hello"))
        assert (done.after_s, done.final, fake.calls["POST channels/ID/messages"]) == (7.5, False, 1)
        for fault in ("500", "garbage", "drop"):
            fake.faults = [fault]
            done = await driven.ask(message(DM, "hello"))
            assert done.error and not done.final and not done.after_s, fault
        assert fake.calls["POST channels/ID/messages"] == 4
        done = await driven.ask(message("123", "hello"))
        assert (done.error, done.final) == ("Discord: 404 Unknown Channel", True)
        assert not fake.sent


async def test_a_token_that_was_revoked_ends_it() -> None:
    async with discord() as fake:
        async with joined(fake) as driven:
            fake.revoked = True
            done = await driven.ask(message(DM, "hello"))
            assert done.error == "Discord: 401 401: Unauthorized" and not done.final, "with another it can be sent"
            assert (await driven.next(wire.Down)).final
            fake.drop_sockets()
            down = await driven.next(wire.Down)
            assert (down.final, down.text) == (True, "Discord: the token was refused")
        async with channel("discord", {"api": f"{fake.base}/api/v10"}, {"token": TOKEN}) as driven:
            assert (await driven.next(wire.Down)).final


async def test_a_session_is_resumed_and_what_was_missed_is_replayed() -> None:
    async with discord() as fake, joined(fake) as driven:
        await fake.tell({"op": 1, "d": None})
        await fake.until(lambda: fake.beats == 1)
        for asked in (False, True):
            if asked:
                await fake.tell({"op": 7, "d": None})
                await fake.until(lambda: not fake.connected)
            else:
                fake.drop_sockets()
            id = await fake.says("while away")
            assert (await driven.update()).id == id
            await fake.until(lambda: fake.connected)
        assert (fake.resumes, fake.identifies, fake.calls["GET channels/ID/messages"]) == (2, 1, 0)


async def test_after_an_invalid_session_the_history_is_read_from_the_last_that_was_recorded() -> None:
    async with discord() as fake, joined(fake) as driven:
        await fake.says("before")
        await driven.update()
        await fake.says(f"<@{BOT}> before", channel=THREAD)
        await driven.update()
        fake.drop_sockets(forget=True)
        missed = [await fake.says(f"missed {number}") for number in range(230)]
        await fake.says("nothing for the bot", channel=THREAD)
        asked = await fake.says(f"<@{BOT}> and you?", channel=THREAD)
        got = [await driven.update() for _ in range(231)]
        assert [one.id for one in got if one.chat == DM] == missed
        assert [(one.id, one.thread) for one in got if one.chat != DM] == [(asked, THREAD)]
        assert fake.identifies == 2


async def test_a_channel_that_may_not_be_read_any_more_and_a_limit_do_not_stop_catching_up() -> None:
    async with discord() as fake:
        async with joined(fake) as driven:
            await fake.says(f"<@{BOT}> before", channel=GENERAL)
            await driven.update()
            await fake.says("before")
            cursor = (await driven.update()).cursor
        missed = await fake.says("missed")
        fake.hidden.add(GENERAL)
        async with channel("discord", {"api": f"{fake.base}/api/v10"}, {"token": TOKEN}, cursor=cursor) as driven:
            await driven.next(wire.Up)
            assert (await driven.update()).id == missed
            await fake.until(lambda: fake.calls["GET channels/ID/messages"] == 2)


async def test_a_gateway_that_answers_no_heartbeat_is_left() -> None:
    async with discord() as fake:
        fake.heartbeat_ms = 100
        async with joined(fake) as driven:
            await fake.until(lambda: fake.beats > 3)
            assert fake.resumes == 0
            fake.deaf = True
            await fake.until(lambda: fake.resumes > 0)
            fake.deaf = False
            await fake.says("still here")
            assert (await driven.update()).text == "still here"


@pytest.mark.parametrize("code", [4004, 4013, 4014])
async def test_a_code_that_is_final_ends_it(code: int) -> None:
    async with discord() as fake, joined(fake) as driven:
        await fake.end(code)
        assert (await driven.next(wire.Down)).final


async def received(driven: Driven, seen: list[str], cursor: list[str], most: int, chance: float = 0.0) -> None:
    """Record updates until there are so many; with a chance, stop after one that was not acknowledged."""
    while len(set(seen)) < most:
        update = await driven.next(wire.Update)
        if random.random() < chance:
            return
        seen.append(update.text)
        cursor[0] = update.cursor
        driven.tell(wire.Ack(update.n))


@pytest.mark.parametrize("messages", [40, pytest.param(200, marks=pytest.mark.long)])
async def test_nothing_is_lost_when_the_process_is_killed_at_any_moment(messages: int) -> None:
    async with discord() as fake:
        sent = [f"message {number}" for number in range(messages)]
        seen: list[str] = []
        cursor = [""]
        rounds = 0
        async with joined(fake) as driven:
            await fake.says(sent[0])
            await received(driven, seen, cursor, 1)

        async def flowing() -> None:
            for number, text in enumerate(sent[1:]):
                if number % 4 == 0:
                    await fake.until(lambda: fake.connected)
                await fake.says(text)

        talking = asyncio.create_task(flowing())
        while len(set(seen)) < messages:
            rounds += 1
            async with joined(fake, cursor=cursor[0]) as driven:
                await received(driven, seen, cursor, messages, 2 / messages)
        await talking
        assert list(dict.fromkeys(seen)) == sent


@pytest.mark.parametrize("seconds", [4, pytest.param(60, marks=pytest.mark.long)])
async def test_nothing_is_lost_and_all_is_in_order_when_the_socket_drops_every_second(seconds: int) -> None:
    async with discord() as fake, joined(fake) as driven:
        seen: list[str] = []
        sent = [f"message {number}" for number in range(seconds * 25)]
        recording = asyncio.create_task(received(driven, seen, [""], len(sent)))
        for number, text in enumerate(sent):
            await fake.says(text)
            if number % 25 == 24:
                fake.drop_sockets(forget=number % 50 == 49)
                if number % 50 != 49:
                    await fake.until(lambda: fake.connected)
        await recording
        assert list(dict.fromkeys(seen)) == sent


# -- the fake itself ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("client", ["discord.js", "discord.py"])
async def test_a_second_library_gets_on_with_the_fake(client: str) -> None:
    program = [str(WITH_NODE), "node", str(NODE)] if client == "discord.js" else [sys.executable, str(PYTHON)]
    async with discord() as fake, AsyncExitStack() as stack:
        process = await asyncio.create_subprocess_exec(
            *program,
            *(fake.base, TOKEN),
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
        await fake.until(lambda: fake.connected)
        await fake.says("hello")
        heard = await line()
        assert heard | {"id": ""} == {"message": "hello", "id": "", "refused": 50035}
        assert fake.uploads == {"a.txt": b"abc"}
        press = await fake.press(f"{DM}/{heard['id']}", "y1")
        assert await line() == {"pressed": "y1", "by": ANN}
        assert fake.pressed == {press: 6}
        assert fake.sent[heard["id"]]["content"] == "done"
        assert fake.followups[0]["content"] == "thanks"
        fake.drop_sockets()
        assert await line() == {"resumed": True}
        process.stdin.close()
        await process.wait()


def _ended(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()
