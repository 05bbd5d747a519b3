"""Telegram's process against a strict Bot API over the real wire."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from stead.domain import channel_wire as wire
from tests.channels.driving import Driven, channel
from tests.fakes.telegram import Telegram, serve

TOKEN = "123456:fake-token-of-tests"


@pytest.fixture
async def server() -> AsyncIterator[Telegram]:
    async with serve(Telegram(TOKEN)) as served:
        yield served


def begun(
    server: Telegram, *, cursor: str = "", token: str = TOKEN, forked: bool = True
) -> AbstractAsyncContextManager[Driven]:
    return channel("telegram", {"api": server.url}, {"token": token}, cursor=cursor, forked=forked)


@asynccontextmanager
async def connected(server: Telegram, *, cursor: str = "", forked: bool = True) -> AsyncIterator[Driven]:
    """A process that is up; afterwards no token is in anything that it printed."""
    async with begun(server, cursor=cursor, forked=forked) as driven:
        await driven.next(wire.Up)
        yield driven
    assert TOKEN.encode() not in driven.output and TOKEN.replace(":", "%3A").encode() not in driven.output


async def until_confirmed(server: Telegram) -> None:
    async with asyncio.timeout(20):
        while server.waiting:
            await asyncio.sleep(0.01)


async def until_polling(server: Telegram) -> None:
    async with asyncio.timeout(20):
        while not server.polling or server.waiting:
            await asyncio.sleep(0.01)


# -- in ----------------------------------------------------------------------------------------------------------------


async def test_it_says_who_it_is_and_how_a_chat_with_it_is_opened(server: Telegram) -> None:
    async with begun(server) as driven:
        assert await driven.next(wire.Up) == wire.Up(
            "123456", "@stead_test_bot", "https://t.me/stead_test_bot?start={}"
        )


async def test_a_text_that_no_line_can_hold_comes_in_repaired_and_those_behind_it_too(server: Telegram) -> None:
    async with connected(server) as driven:
        ada = server.person(name="Ada \udc00")
        for text in ("\ud83d is half a sign", "after it"):
            server.writes(ada, text)
        broken = await driven.update()
        assert (broken.text, broken.name) == ("? is half a sign", "Ada ?")
        assert (await driven.update()).text == "after it"


async def test_what_a_person_writes_comes_in_by_their_id(server: Telegram) -> None:
    async with connected(server) as driven:
        server.writes(server.person(42, "Ada", last_name="Lovelace", username="ada"), "hello")
        update = await driven.update()
        assert (update.chat, update.person, update.name, update.text) == ("42", "42", "Ada Lovelace", "hello")
        assert update.private and update.addressed and not update.thread
        await until_confirmed(server)


async def test_an_update_is_forgotten_by_telegram_only_once_it_is_recorded(server: Telegram) -> None:
    ada = server.person()
    async with connected(server) as driven:
        server.writes(ada, "one")
        first = await driven.next(wire.Update)
        server.writes(ada, "two")
        for _ in range(3):  # time in which it could ask for more
            await driven.ask(wire.Probe(0))
        assert server.waiting == 2, "nothing was acknowledged"
    async with connected(server) as driven:
        again = await driven.next(wire.Update)
        assert (again.id, again.text) == (first.id, "one")
        driven.tell(wire.Ack(again.n))
        assert (await driven.update()).text == "two"
        await until_confirmed(server)


async def test_after_a_restart_it_goes_on_after_the_last_that_was_recorded(server: Telegram) -> None:
    ada = server.person()
    server.writes(ada, "one")
    server.writes(ada, "two")
    async with connected(server) as driven:
        first = await driven.next(wire.Update)
    async with connected(server, cursor=first.cursor) as driven:
        assert (await driven.update()).text == "two"


async def test_in_a_group_it_knows_by_telegrams_marks_whether_it_is_meant(server: Telegram) -> None:
    ada, group = server.person(), server.group()["id"]
    said: list[tuple[str, bool, str]] = [
        ("talk among us", False, "talk among us"),
        ("@stead_test_bot, water the roses", True, "water the roses"),
        ("🌹🌹 ask @Stead_Test_Bot about it", True, "🌹🌹 ask @Stead_Test_Bot about it"),
        ("/status@stead_test_bot now", True, "/status now"),
        ("/status@another_bot now", False, "/status@another_bot now"),
        ("mail ada@stead_test_bot", False, "mail ada@stead_test_bot"),
    ]
    async with connected(server) as driven:
        for text, meant, heard in said:
            server.writes(ada, text, chat=group)
            update = await driven.update()
            assert (update.addressed, update.text) == (meant, heard)
            assert (update.chat, update.title, update.private) == ("-1001", "Garden", False)
        server.writes(ada, "@stead_test_bot", chat=group, entities=[])
        assert not (await driven.update()).addressed, "words alone, which Telegram did not mark"


async def test_a_reply_to_the_bot_is_meant_for_it_and_one_to_another_is_not(server: Telegram) -> None:
    ada, group = server.person(), server.group(topics=(7,))["id"]
    async with connected(server) as driven:
        done = await driven.ask(wire.Send(0, "k", str(group), "", "what shall I do?"))
        mine = server.messages[group, int(done.value)]
        theirs = server.writes(server.person(43, "Bo"), "me too", chat=group)
        opened = {**mine, "forum_topic_created": {"name": "Roses", "icon_color": 1}}
        await driven.update()
        for replied, meant in ((mine, True), (theirs, False), (opened, False)):
            server.writes(ada, "yes", chat=group, topic=7, reply_to_message=replied)
            update = await driven.update()
            assert (update.addressed, update.thread) == (meant, "7")


async def test_what_was_forwarded_is_marked_as_anothers_words(server: Telegram) -> None:
    ada, group = server.person(), server.group()["id"]
    origin = {"type": "hidden_user", "date": 1, "sender_user_name": "Mallory"}
    async with connected(server) as driven:
        server.writes(ada, "/start 123\nsend it all", forward_origin=origin)
        update = await driven.update()
        assert (update.forwarded, update.text) == (True, "/start 123\nsend it all")
        server.writes(ada, "by a bot", via_bot={"id": 9, "is_bot": True, "first_name": "Gif", "username": "gif"})
        assert (await driven.update()).forwarded
        server.writes(ada, "my own words")
        assert not (await driven.update()).forwarded
        server.writes(ada, "@stead_test_bot obey", chat=group, forward_origin=origin)
        assert not (await driven.update()).addressed


async def test_bots_channels_edits_and_those_who_hide_are_not_heard(server: Telegram) -> None:
    ada, group = server.person(), server.group()
    channel = server.group(-1002, "News", kind="channel")
    async with connected(server) as driven:
        message = server.writes(ada, "one")
        server.edits(message, "another")
        server.posts(channel["id"], "news")
        server.writes({"id": 9, "is_bot": True, "first_name": "Bot"}, "beep", chat=group["id"])
        server.writes(
            {"id": 1087968824, "is_bot": True, "first_name": "Group"}, "x", chat=group["id"], sender_chat=group
        )
        server.writes(ada, "as the channel", chat=group["id"], sender_chat=channel)
        server.writes(ada, "two")
        assert [(await driven.update()).text for _ in range(2)] == ["one", "two"]
        await until_confirmed(server)


async def test_files_come_with_an_update_and_are_brought(server: Telegram) -> None:
    ada = server.person()
    async with connected(server) as driven:
        server.sends(ada, b"the plan", caption="see this")
        update = await driven.update()
        (file,) = update.files
        assert (update.text, file.name, file.media_type, file.size_bytes) == ("see this", "plan.txt", "text/plain", 8)
        assert (await driven.ask(wire.Fetch(0, file.id))).data == b"the plan"
        sizes = [server.file(b"x" * size, width=1, height=1) for size in (1, 9)]
        server.writes(ada, photo=sizes)
        (photo,) = (await driven.update()).files
        assert (photo.name, photo.size_bytes) == ("photo.jpg", 9), "the largest"
        large = server.file(b"x" * 5_000_001)
        done = await driven.ask(wire.Fetch(0, large["file_id"]))
        assert done.final and "more than 5 MB" in done.error
        assert (await driven.ask(wire.Fetch(0, "nothing"))).final


async def test_a_press_comes_in_with_who_pressed_and_is_answered(server: Telegram) -> None:
    ada = server.person()
    async with connected(server) as driven:
        buttons = ((wire.Button("Yes", "y" * 60), wire.Button("No", "n")),)
        done = await driven.ask(wire.Send(0, "k", "42", "", "Delete it?", buttons))
        press = server.presses(ada, server.messages[42, int(done.value)], "n")
        update = await driven.update()
        assert (update.press, update.data, update.person) == (press, "n", "42")
        driven.tell(wire.Pressed(press, "kept"))
        assert not (await driven.ask(wire.Edit(0, "42", done.value, "Kept."))).error
        edited = server.messages[42, int(done.value)]
        assert edited["text"] == "Kept." and "reply_markup" not in edited
        async with asyncio.timeout(10):
            while server.answers.get(press) != "kept":
                await asyncio.sleep(0.01)


# -- out ---------------------------------------------------------------------------------------------------------------


async def test_what_is_sent_is_plain_text_without_previews_in_its_topic(server: Telegram) -> None:
    server.person()
    group = server.group(topics=(7,))["id"]
    async with connected(server) as driven:
        text = "*not* <b>bold</b> https://example.com/"
        done = await driven.ask(wire.Send(0, "k", str(group), "7", text))
        sent = server.messages[group, int(done.value)]
        assert (sent["text"], sent["message_thread_id"]) == (text, 7)
        (accepted,) = server.done("sendMessage")
        assert "parse_mode" not in accepted.values
        assert accepted.values["link_preview_options"] == {"is_disabled": True}
        driven.tell(wire.Typing(str(group), "7"))
        assert (await driven.ask(wire.Edit(0, str(group), done.value, text))).error == "", "the same text is no fault"
        assert len(server.done("sendChatAction")) == 1


async def test_a_text_and_its_files_are_messages_of_which_none_is_sent_twice(server: Telegram) -> None:
    server.person()
    server.strict_rate = True
    files = (wire.FileOut("a.txt", "text/plain", b"a"), wire.FileOut("b.txt", "text/plain", b"b"))
    async with connected(server) as driven:
        server.fail("sendDocument", "429", after_s=3)
        message = wire.Send(0, "key", "42", "", "two files", files=files)
        first = await driven.ask(message)
        assert (first.after_s, first.final) == (3, False)
        again = await driven.ask(message)
        assert not again.error and server.messages[42, int(again.value)]["text"] == "two files"
        assert len(server.done("sendMessage")) == 1
        assert [one.files.values() and b"".join(one.files.values()) for one in server.done("sendDocument")] == [
            b"a",
            b"b",
        ]


async def test_a_long_text_becomes_a_few_messages_and_a_longer_one_a_file(server: Telegram) -> None:
    server.person()
    server.strict_rate = True
    async with connected(server) as driven:
        assert not (await driven.ask(wire.Send(0, "a", "42", "", "word " * 1600))).error
        assert [len(one.values["text"]) <= 4096 for one in server.done("sendMessage")] == [True, True]
        longer = wire.Send(0, "b", "42", "", "word " * 9000)
        while (done := await driven.ask(longer)).after_s:  # as the daemon does
            await asyncio.sleep(done.after_s)
        assert not done.error
        assert len(server.done("sendMessage")) == 3
        (whole,) = server.done("sendDocument")
        assert next(iter(whole.files.values())) == b"word " * 9000


async def test_where_it_may_not_write_it_is_told_so_for_good(server: Telegram) -> None:
    server.person()
    async with connected(server) as driven:
        server.chats[42].blocked = True
        blocked = await driven.ask(wire.Send(0, "k", "42", "", "hello"))
        assert blocked.final and "blocked" in blocked.error
        unknown = await driven.ask(wire.Send(0, "k", "77", "", "hello"))
        assert unknown.final and "not found" in unknown.error


# -- faults ------------------------------------------------------------------------------------------------------------


async def test_a_hint_to_wait_is_reported_and_nothing_is_tried_meanwhile(server: Telegram) -> None:
    server.person()
    async with connected(server) as driven:
        server.fail("sendMessage", "429", after_s=17)
        done = await driven.ask(wire.Send(0, "k", "42", "", "hello"))
        assert (done.after_s, done.final, server.done("sendMessage")) == (17, False, [])
        assert not server._faults["sendMessage"], "asked once"


async def test_of_a_poll_it_waits_as_long_as_it_is_told(server: Telegram) -> None:
    server.fail("getUpdates", "429", after_s=2)
    async with connected(server) as driven:
        assert "wait" in (await driven.next(wire.Down)).text
        at_s = time.monotonic()
        await driven.next(wire.Up)
        assert time.monotonic() - at_s > 1.9


@pytest.mark.parametrize("fault", ["500", "garbage", "drop"])
async def test_it_comes_back_after(server: Telegram, fault: str) -> None:
    server.fail("getUpdates", fault, fault)  # type: ignore[arg-type]
    async with connected(server) as driven:
        assert not (await driven.next(wire.Down)).final
        await driven.next(wire.Up)
        server.writes(server.person(), "still there?")
        assert (await driven.update()).text == "still there?"


async def test_one_poll_that_is_broken_off_is_no_outage(server: Telegram) -> None:
    ada = server.person()
    async with connected(server) as driven:
        for number in range(3):
            server.writes(ada, str(number))
            assert (await driven.update()).text == str(number)
            await until_polling(server)
            server.cut()
        server.writes(ada, "last")
        await driven.update()
        assert b'"down"' not in driven.output


@pytest.mark.parametrize("fault", ["500", "garbage", "drop"])
async def test_a_message_that_fails_is_reported_as_such(server: Telegram, fault: str) -> None:
    server.person()
    async with connected(server) as driven:
        server.fail("sendMessage", fault)  # type: ignore[arg-type]
        done = await driven.ask(wire.Send(0, "k", "42", "", "hello"))
        assert done.error and not done.final and not server.done("sendMessage")
        assert not (await driven.ask(wire.Send(0, "k", "42", "", "hello"))).error


async def test_what_quotes_the_token_is_passed_on_without_it(server: Telegram) -> None:
    server.person()
    async with connected(server) as driven:
        server.fail("sendMessage", "echo")
        assert (await driven.ask(wire.Send(0, "k", "42", "", "hello"))).error == "Telegram: Bad Request: no … here"
        server.fail("getUpdates", "echo", "echo")
        server.cut()
        assert (await driven.next(wire.Down)).text == "Telegram: Bad Request: no … here"


async def test_another_program_with_the_same_token_is_named(server: Telegram) -> None:
    async with connected(server) as driven, begun(server) as other:
        await other.next(wire.Up)
        assert "Conflict" in (await driven.next(wire.Down)).text


async def test_a_wrong_token_is_final(server: Telegram) -> None:
    async with begun(server, token="123456:fake-token-of-nobody") as driven:
        assert (await driven.next(wire.Down)).final
        assert (await driven.ask(wire.Probe(0))).error
        assert server.unauthorized == 2, "and not tried again"
    assert b"fake-token" not in driven.output


async def test_a_token_that_is_revoked_ends_it(server: Telegram) -> None:
    async with connected(server) as driven:
        assert (await driven.ask(wire.Probe(0))).value == "@stead_test_bot"
        server.revoke()
        down = await driven.next(wire.Down)
        assert down.final and "refuses the token" in down.text


async def test_updates_that_are_none_hold_nothing_up(server: Telegram) -> None:
    ada = server.person()
    async with connected(server) as driven:
        server.tell("message", {"message_id": "x"})
        server.tell("message", ["what"])
        server.tell("message", {"message_id": 1, "date": 10**30, "chat": {"id": 1, "type": "private"}, "from": ada})
        server.tell("callback_query", {"id": 1, "from": ada, "data": 5, "chat_instance": "i"})
        server.tell("something_new", {"a": 1})
        server._updates.append({"update_id": "forged", "message": {}})
        server.writes({**ada, "first_name": "A" * 3000}, "x" * 200_000)
        server.writes({**ada, "id": "9" * 900}, "an id that is none", chat=42)
        server.sends(ada, b"a", name="n" * 5000, caption="long name")
        update = await driven.update()
        assert (len(update.name), len(update.text)) == (500, 100_000)
        (file,) = (await driven.update()).files
        assert len(file.name) == 200
        await until_confirmed(server)
        assert driven.process.returncode is None and b"Traceback" not in driven.output


async def test_updates_without_a_number_are_not_asked_for_in_a_storm(server: Telegram) -> None:
    server._updates.append({"update_id": "forged"})
    async with connected(server) as driven:
        assert "number" in (await driven.next(wire.Down)).text
        await driven.next(wire.Up)
        assert server.requests <= 4


async def test_an_idle_process_stays_within_forty_megabytes(server: Telegram) -> None:
    status = ""
    for _ in range(2):  # the first compiles what it imports, where nobody did yet
        async with connected(server, forked=False) as driven:
            server.writes(server.person(), "hello")
            await driven.update()
            status = Path(f"/proc/{driven.process.pid}/status").read_text()
    [used] = [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")]
    assert used <= 40 << 10, f"{used >> 10} MiB"


# -- nothing is lost ---------------------------------------------------------------------------------------------------


async def _killed_at_random(server: Telegram, messages: int) -> None:
    """Kill it again and again while messages come; what was acknowledged is kept as the daemon keeps it."""
    dice, ada = random.Random(7), server.person()
    told, got, cursor = 0, list[str](), ""
    while len(set(got)) < messages:
        async with connected(server, cursor=cursor) as driven:
            for _ in range(dice.randrange(1, 8)):
                if told < messages:
                    server.writes(ada, f"m{told}")
                    told += 1
                if len(set(got)) == messages:
                    break
                update = await driven.next(wire.Update)
                got.append(update.text)
                if dice.random() < 0.8:
                    cursor = update.cursor
                    driven.tell(wire.Ack(update.n))
                else:
                    break
    assert list(dict.fromkeys(got)) == [f"m{number}" for number in range(messages)], "none lost, in order"


async def test_killed_at_random_points_it_loses_nothing(server: Telegram) -> None:
    await _killed_at_random(server, 12)


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_killed_a_hundred_times_it_loses_nothing(server: Telegram) -> None:
    await _killed_at_random(server, 400)


async def test_dropped_every_moment_nothing_is_lost_and_all_is_in_order(server: Telegram) -> None:
    ada = server.person()
    async with connected(server) as driven:

        async def drop() -> None:
            for number in range(30):
                server.writes(ada, f"m{number}")
                await asyncio.sleep(0.1)
                if number % 5 == 4:
                    server.cut()

        dropping = asyncio.create_task(drop())
        got = list[str]()
        while "m29" not in got:
            got.append((await driven.update()).text)
        await dropping
        assert list(dict.fromkeys(got)) == [f"m{number}" for number in range(30)]
