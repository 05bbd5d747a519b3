"""WhatsApp: the process of a channel against a strict double of the Cloud API."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest

from stead.domain.channel_wire import (
    MOST_FILE_BYTES,
    Ack,
    Button,
    Done,
    Down,
    Edit,
    Fetch,
    FileOut,
    Probe,
    Request,
    Response,
    Send,
    Typing,
    Up,
    Update,
)
from tests.channels.driving import Driven, channel
from tests.egress.bench import make_certificate
from tests.fakes import http as fake_http
from tests.fakes.whatsapp import (
    APP_SECRET,
    PHONE,
    TOKEN,
    VERIFY_TOKEN,
    Failure,
    FakeWhatsApp,
    Json,
    signed,
    whatsapp,
)
from tests.web.test_channel_requests import listening

ANN, BOB = "4915550001", "4915550002"
TOKENS = {"token": TOKEN, "app_secret": APP_SECRET, "verify_token": VERIFY_TOKEN}


@pytest.fixture
async def meta() -> AsyncIterator[FakeWhatsApp]:
    async with whatsapp() as fake:
        yield fake


@asynccontextmanager
async def running(meta: FakeWhatsApp, *, forked: bool = True) -> AsyncIterator[Driven]:
    async with channel("whatsapp", {"phone_id": PHONE, "api": meta.url}, TOKENS, forked=forked) as driven:
        await driven.next(Up)
        yield driven
        assert not any(secret.encode() in driven.output for secret in TOKENS.values())


@pytest.fixture
async def bot(meta: FakeWhatsApp) -> AsyncIterator[Driven]:
    async with running(meta) as driven:
        yield driven


def posted(body: bytes, headers: dict[str, str] | None = None) -> Request:
    return Request(0, "POST", "", signed(body) if headers is None else headers, body)


async def brought(bot: Driven, body: bytes, *, count: int = 1) -> list[Update]:
    """What a request brings; it is answered once that is recorded."""
    answer = asyncio.create_task(bot.request(posted(body)))
    updates: list[Update] = []
    for _ in range(count):
        coming = asyncio.create_task(bot.next(Update))
        await asyncio.wait({answer, coming}, return_when=asyncio.FIRST_COMPLETED)
        assert not answer.done(), "it is not answered before all is recorded"
        updates.append(await coming)
        bot.tell(Ack(updates[-1].n))
    assert (await answer).status == 200
    return updates


def send(chat: str, text: str, **more: object) -> Send:
    return Send(0, "key", chat, "", text, **more)  # type: ignore[arg-type]


async def test_it_says_who_it_is_and_how_it_is_found(meta: FakeWhatsApp) -> None:
    async with channel("whatsapp", {"phone_id": PHONE, "api": meta.url}, TOKENS) as driven:
        up = await driven.next(Up)
        assert (up.account, up.name, up.link) == (PHONE, "Example Ltd", "https://wa.me/15550123456?text={}")
        assert await driven.ask(Probe(0)) == Done(1, "Example Ltd")


async def test_everything_goes_through_the_proxy_that_the_environment_names(meta: FakeWhatsApp) -> None:
    seen: list[str] = []

    async def relay(request: fake_http.Request, exchange: fake_http.Exchange) -> None:
        seen.append(request.path)
        await meta.handle(replace(request, path=request.path.removeprefix("http://graph.example.com")), exchange)

    async with fake_http.serve(relay) as port:
        settings = {"phone_id": PHONE, "api": "http://graph.example.com"}
        proxy = {"HTTP_PROXY": f"http://127.0.0.1:{port}", "NO_PROXY": "*"}
        async with channel("whatsapp", settings, TOKENS, environment=proxy) as driven:
            await driven.next(Up)
    assert seen and all(path.startswith("http://graph.example.com/v25.0/") for path in seen)


async def test_a_certificate_of_ones_own_is_trusted_once_it_is_named(meta: FakeWhatsApp, tmp_path: Path) -> None:
    tls, trusted = make_certificate(tmp_path, "localhost")
    async with fake_http.serve(meta.handle, tls=tls) as port:
        settings = {"phone_id": PHONE, "api": f"https://localhost:{port}"}
        async with channel("whatsapp", settings, TOKENS, ca=trusted.read_text()) as driven:
            await driven.next(Up)
        async with channel("whatsapp", settings, TOKENS) as driven:
            down = await driven.next(Down)
            assert not down.final and "CERTIFICATE_VERIFY_FAILED" in down.text


async def test_a_request_at_the_listener_reaches_the_process_and_its_answer_the_sender(
    meta: FakeWhatsApp, bot: Driven, caplog: pytest.LogCaptureFixture
) -> None:
    async with listening(caplog) as house:
        house.channels.answers = bot.request
        word = urlencode({"hub.mode": "subscribe", "hub.verify_token": VERIFY_TOKEN, "hub.challenge": "77"})
        assert await house.send(b"", [], method="GET", target=f"/channels/bot?{word}") == (200, b"77")
        body = meta.webhook(meta.text(ANN, "from outside"))
        assert (await house.send(body, [("X-Hub-Signature-256", "sha256=" + "0" * 64)]))[0] == 401
        answer = asyncio.create_task(house.send(body, list(signed(body).items())))
        assert (await bot.update()).text == "from outside"
        assert await answer == (200, b"")


async def test_nothing_is_lost_where_connections_to_the_listener_break(
    meta: FakeWhatsApp, bot: Driven, caplog: pytest.LogCaptureFixture
) -> None:
    """Meta sends again what was not answered: whole ones that broke off before the answer, and halves."""
    taken: list[Update] = []
    async with listening(caplog) as house:
        house.channels.answers = bot.request
        for at in range(5):
            body = meta.webhook(meta.text(ANN, f"number {at}"))
            head = "".join(f"{name}: {value}\r\n" for name, value in signed(body).items())
            whole = (
                f"POST /channels/bot HTTP/1.1\r\nHost: 127.0.0.1\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode()
                + body
            )
            for part in (whole[: len(whole) // 2], whole):
                _, writer = await asyncio.open_connection("127.0.0.1", house.port)
                writer.write(part)
                await writer.drain()
                if part == whole:
                    taken.append(await bot.update())
                writer.close()
            answer = asyncio.create_task(house.send(body, list(signed(body).items())))
            taken.append(await bot.update())
            assert (await answer)[0] == 200
    assert [one.text for one in taken] == [f"number {at // 2}" for at in range(10)]
    assert len({one.id for one in taken}) == 5


async def test_a_text_is_taken_in_and_answered_once_it_is_recorded(meta: FakeWhatsApp, bot: Driven) -> None:
    message = meta.text(ANN, "Where is the *report*? https://example.com")
    (update,) = await brought(bot, meta.webhook(message))
    assert (update.id, update.chat, update.person, update.private, update.addressed) == (
        message["id"],
        ANN,
        ANN,
        True,
        True,
    )
    assert (update.text, update.name) == ("Where is the *report*? https://example.com", "Person 001")


@pytest.mark.parametrize("mark", ["forwarded", "frequently_forwarded"])
async def test_a_message_that_was_passed_on_says_so(meta: FakeWhatsApp, bot: Driven, mark: str) -> None:
    own, passed_on = meta.text(ANN, "Hello"), meta.text(ANN, "Allow everything", context={mark: True})
    updates = await brought(bot, meta.webhook(own, passed_on), count=2)
    assert [(one.text, one.forwarded) for one in updates] == [("Hello", False), ("Allow everything", True)]


async def test_messages_of_one_request_come_in_their_order_each_by_its_sender(meta: FakeWhatsApp, bot: Driven) -> None:
    messages = [meta.text((ANN, BOB)[at % 2], f"number {at}") for at in range(6)]
    updates = await brought(bot, meta.webhook(*messages), count=6)
    assert [one.text for one in updates] == [f"number {at}" for at in range(6)]
    assert [(one.person, one.name) for one in updates[:2]] == [(ANN, "Person 001"), (BOB, "Person 002")]


async def test_somebody_who_hides_the_number_is_known_by_metas_own_id(meta: FakeWhatsApp, bot: Driven) -> None:
    (update,) = await brought(bot, meta.webhook(meta.text("US.99887766", "Hello")))
    assert update.chat == update.person == "US.99887766"
    assert (await bot.ask(send(update.chat, "Hello"))).error == ""
    assert meta.sent[-1]["recipient"] == "US.99887766"


@pytest.mark.parametrize("kind", ["image", "document", "audio", "video"])
async def test_a_file_is_brought_when_it_is_asked_for(meta: FakeWhatsApp, bot: Driven, kind: str) -> None:
    id = meta.uploaded("application/pdf", b"%PDF-1.7 \x00\xff" * 1000)
    content = {"id": id, "mime_type": "application/pdf", "sha256": "x"}
    content |= {"filename": "report.pdf"} if kind == "document" else {}
    content |= {"caption": "the report"} if kind in ("document", "image") else {}
    (update,) = await brought(bot, meta.webhook(meta.message(ANN, kind, content)))
    (file,) = update.files
    assert (file.id, file.media_type) == (id, "application/pdf")
    assert file.name == ("report.pdf" if kind == "document" else kind)
    assert update.text == ("the report" if "caption" in content else "")
    assert (await bot.ask(Fetch(0, file.id))).data == b"%PDF-1.7 \x00\xff" * 1000


async def test_a_file_is_brought_from_no_other_host_and_not_if_it_is_too_large(meta: FakeWhatsApp, bot: Driven) -> None:
    for url in (
        "https://evil.example.com/file",
        "http://lookaside.fbsbx.com/file",
        "https://lookaside.fbsbx.com.example.com/x",
        "https://lookaside.fbsbx.com@example.com/x",
        f"http://127.0.0.1:{meta.port + 1}/files/1",
    ):
        done = await bot.ask(Fetch(0, meta.uploaded("text/plain", b"x", url)))
        assert done.final and "host" in done.error, url
    done = await bot.ask(Fetch(0, meta.uploaded("text/plain", b"x" * (MOST_FILE_BYTES + 1))))
    assert done.final and "5 MB" in done.error
    assert (await bot.ask(Fetch(0, f"{PHONE}/messages"))).final


async def test_what_is_sent_is_plain_and_files_go_along(meta: FakeWhatsApp, bot: Driven) -> None:
    await brought(bot, meta.webhook(meta.text(ANN, "Hi")))
    done = await bot.ask(send(ANN, "See https://example.com <b>", files=(FileOut("a.csv", "text/csv", b"1,2\n"),)))
    assert done.error == "" and done.value == meta.sent[0]["id"]
    first, second = meta.sent
    assert (first["text"], first["to"]) == ({"body": "See https://example.com <b>", "preview_url": False}, ANN)
    assert second["document"]["filename"] == "a.csv"
    assert meta.media[second["document"]["id"]][:2] == ("text/csv", b"1,2\n")
    await bot.ask(send(ANN, "x" * 5000))
    assert [len(one["text"]["body"]) for one in meta.sent[2:]] == [4096, 904]
    edited = await bot.ask(Edit(0, ANN, first["id"], "other"))
    assert edited.final and "cannot change" in edited.error


async def test_few_buttons_are_replies_and_many_or_long_ones_a_list(meta: FakeWhatsApp, bot: Driven) -> None:
    await brought(bot, meta.webhook(meta.text(ANN, "Hi")))
    three = tuple((Button(text, f"ok:{text}"),) for text in ("Allow", "Always", "Deny"))
    done = await bot.ask(send(ANN, "Run it?", buttons=three))
    said = meta.sent[-1]["interactive"]
    assert said["type"] == "button" and said["body"]["text"] == "Run it?"
    (update,) = await brought(bot, meta.webhook(meta.pressed(ANN, done.value, "ok:Allow")))
    assert (update.data, update.press, update.text) == ("ok:Allow", update.id, "")
    long = ((Button("Allow this once and never again", "a"), Button("Allow this once and for ever", "b")),)
    done = await bot.ask(send(ANN, "y" * 2000, buttons=long))
    assert "".join([meta.sent[-2]["text"]["body"], meta.sent[-1]["interactive"]["body"]["text"]]) == "y" * 2000
    said = meta.sent[-1]["interactive"]
    rows = said["action"]["sections"][0]["rows"]
    assert said["type"] == "list" and rows[1]["description"] == "Allow this once and for ever"
    (update,) = await brought(bot, meta.webhook(meta.pressed(ANN, done.value, "b", row=True)))
    assert update.data == "b"
    twelve = tuple((Button(f"Choice {at}", f"c{at}"),) for at in range(12))
    assert (await bot.ask(send(ANN, "Which?", buttons=twelve))).error == ""
    assert "reply c11: Choice 11" in meta.sent[-1]["text"]["body"]


async def test_typing_is_shown_under_what_was_written_last(meta: FakeWhatsApp, bot: Driven) -> None:
    (update,) = await brought(bot, meta.webhook(meta.text(ANN, "Hi")))
    bot.tell(Typing(BOB, ""))
    bot.tell(Typing(ANN, ""))
    await bot.ask(Probe(0))
    async with asyncio.timeout(20):
        while not meta.marked:
            await bot.ask(Probe(0))
    assert [one["message_id"] for one in meta.marked] == [update.id]


async def test_a_callback_url_is_confirmed_to_who_knows_the_word(bot: Driven) -> None:
    good = {"hub.mode": "subscribe", "hub.verify_token": VERIFY_TOKEN, "hub.challenge": "1158201444"}

    async def asked(**changed: str) -> Response:
        query = urlencode({key: value for key, value in {**good, **changed}.items() if value})
        return await bot.request(Request(0, "GET", query, {}, b""))

    assert (await asked()).body == "1158201444"
    for changed in (
        {"hub.verify_token": "another"},
        {"hub.verify_token": ""},
        {"hub.verify_token": "größe"},
        {"hub.mode": "unsubscribe"},
        {"hub.challenge": "<script>"},
        {"hub.challenge": "x" * 300},
    ):
        answer = await asked(**changed)
        assert (answer.status, answer.body) == (401, ""), changed
    doubled = urlencode(good) + "&hub.verify_token=x"
    assert (await bot.request(Request(0, "GET", doubled, {}, b""))).status == 401


async def test_what_is_not_signed_brings_nothing(meta: FakeWhatsApp, bot: Driven) -> None:
    body = meta.webhook(meta.text(ANN, "forged"))
    good = signed(body)["x-hub-signature-256"]
    for signature in (
        None,
        "",
        "sha256=",
        good.removeprefix("sha256="),
        good[:-1],
        good.upper(),
        f"{good}, {good}",
        "sha256=größe",
        signed(body, "another key")["x-hub-signature-256"],
        signed(body, "")["x-hub-signature-256"],
        signed(body + b" ")["x-hub-signature-256"],
    ):
        headers = {} if signature is None else {"x-hub-signature-256": signature}
        assert (await bot.request(posted(body, headers))).status == 401, signature
    assert (await bot.request(posted(body.replace(b"forged", b"changed"), signed(body)))).status == 401
    (update,) = await brought(bot, body)
    assert update.text == "forged", "nothing came before it"


async def test_a_copy_of_a_request_has_the_same_id_and_an_old_one_brings_nothing(
    meta: FakeWhatsApp, bot: Driven
) -> None:
    body = meta.webhook(meta.text(ANN, "once"))
    (first,), (again,) = await brought(bot, body), await brought(bot, body)
    assert first.id == again.id
    stale = meta.webhook(meta.text(ANN, "long ago", at=time.time() - 9 * 86_400))
    assert (await bot.request(posted(stale))).status == 200
    (update,) = await brought(bot, meta.webhook(meta.text(ANN, "now")))
    assert update.text == "now"


async def test_what_is_no_message_of_a_person_to_this_number_is_passed_over(meta: FakeWhatsApp, bot: Driven) -> None:
    status = {"id": "wamid.X", "status": "read", "timestamp": "1", "recipient_id": ANN}
    reaction = meta.message(ANN, "reaction", {"message_id": "wamid.X", "emoji": "+"})
    group = meta.text(ANN, "to all", group_id="Y2FwaV9ncm91cDox")
    system = meta.message(ANN, "system", {"type": "user_changed_number", "wa_id": BOB, "body": "changed"})
    bodies = [
        meta.webhook(value={"statuses": [status]}),
        meta.webhook(meta.text(ANN, "to another number"), phone="999"),
        *[meta.webhook(one) for one in (reaction, group, system)],
        meta.webhook({**meta.text(ANN, "x"), "from": "", "from_user_id": ""}),
        *[json.dumps(one).encode() for one in MALFORMED],
        b"",
        b"\xff",
        b"[" * 100_000,
        b'{"entry": 1e999}',
    ]
    for body in bodies:
        assert (await bot.request(posted(body))).status == 200, body[:200]
    (update,) = await brought(bot, meta.webhook({"from": "", "from_user_id": "x"}, meta.text(ANN, "still here")))
    assert update.text == "still here"


MALFORMED: list[object] = [
    {},
    [],
    None,
    7,
    {"entry": {}},
    {"entry": [{}]},
    {"entry": [{"changes": [{"field": "messages", "value": {"messages": [7, {}, None]}}]}]},
    {"entry": [{"changes": [{"field": "messages", "value": {"messages": {"a": 1}, "contacts": 5}}]}]},
    {"entry": [{"changes": [{"field": "messages", "value": None}]}]},
]


async def test_somebody_who_has_not_written_for_a_day_is_not_written_to(meta: FakeWhatsApp, bot: Driven) -> None:
    done = await bot.ask(send(ANN, "Good morning"))
    assert done.final and "24 hours" in done.error and meta.sent == []


@pytest.mark.parametrize(
    ("failure", "after_s"),
    [
        (Failure(429, 4, {"retry-after": "17"}), 17),
        (Failure(400, 80007), 60),
        (Failure(400, 130429), 60),
        (
            Failure(
                400,
                130429,
                {"x-business-use-case-usage": json.dumps({"1": [{"type": "x", "estimated_time_to_regain_access": 3}]})},
            ),
            180,
        ),
        (Failure(429, 4, {"retry-after": "soon", "x-business-use-case-usage": "[[["}), 60),
    ],
)
async def test_a_wish_to_be_left_alone_is_told_and_nothing_is_tried_meanwhile(
    meta: FakeWhatsApp, bot: Driven, failure: Failure, after_s: float
) -> None:
    await brought(bot, meta.webhook(meta.text(ANN, "Hi")))
    before, meta.fails = meta.requests, [failure]
    done = await bot.ask(send(ANN, "Hello"))
    assert (done.after_s, done.final) == (after_s, False) and meta.requests == before + 1
    assert (await bot.ask(send(ANN, "Hello"))).error == ""


async def test_faults_of_the_platform_end_nothing(meta: FakeWhatsApp, bot: Driven) -> None:
    await brought(bot, meta.webhook(meta.text(ANN, "Hi")))
    for failure in (
        Failure(500),
        Failure(503, body=b"<html>"),
        Failure(200, body=b"not JSON"),
        Failure(200, body=b"{}"),
        Failure(200, body=b"[]"),
        Failure(400, body=b'{"error": {"code": "x"}}'),
        Failure(400, body=b'{"error": 5}'),
        Failure(end="drop"),
    ):
        meta.fails = [failure]
        done = await bot.ask(send(ANN, "Hello"))
        assert done.error and not done.final and TOKEN not in done.error, failure
    assert (await bot.ask(send(ANN, "Hello"))).error == ""
    assert (await bot.ask(send("nobody", "Hello"))).final


async def test_a_token_that_was_revoked_is_the_end(meta: FakeWhatsApp, bot: Driven) -> None:
    await brought(bot, meta.webhook(meta.text(ANN, "Hi")))
    meta.revoked = True
    done = await bot.ask(send(ANN, "Hello"))
    assert done.error and not done.final, "with another token it can be sent"
    down = await bot.next(Down)
    assert down.final and TOKEN not in down.text


async def test_nothing_is_lost_when_the_process_is_killed_at_any_time(meta: FakeWhatsApp) -> None:
    await killed_often(meta, 3)


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_nothing_is_lost_when_the_process_is_killed_a_hundred_times(meta: FakeWhatsApp) -> None:
    await killed_often(meta, 60)


async def killed_often(meta: FakeWhatsApp, count: int) -> None:
    """Meta delivers again until it got a 200; what the daemon recorded may come again under the same id."""
    chance = random.Random(5)
    waiting: list[Json] = [meta.text(ANN, f"number {at}") for at in range(count)]
    recorded: dict[str, str] = {}
    while waiting:
        async with running(meta) as bot:
            for _ in range(chance.randrange(1, 8)):
                if not waiting:
                    break
                answer = asyncio.create_task(bot.request(posted(meta.webhook(waiting[0]))))
                update = await bot.next(Update)
                recorded.setdefault(update.id, update.text)
                if chance.random() < 0.3:
                    answer.cancel()
                    break
                bot.tell(Ack(update.n))
                if chance.random() < 0.2:
                    answer.cancel()
                    break
                assert (await answer).status == 200
                waiting.pop(0)
            await bot.kill()
    assert list(recorded.values()) == [f"number {at}" for at in range(count)]


async def test_an_idle_process_is_small(meta: FakeWhatsApp) -> None:
    async with running(meta, forked=False) as bot:
        status = Path(f"/proc/{bot.process.pid}/status").read_text("ascii")
    assert int(status.split("VmRSS:")[1].split()[0]) <= 40 * 1024


async def test_a_second_client_accepts_the_double(meta: FakeWhatsApp) -> None:
    meta.text(ANN, "Hi")
    node = shutil.which("node") or str(ROOT / ".setup/node/bin/node")
    body = meta.webhook(meta.text(ANN, "from the double"))
    given = {
        "url": meta.url,
        "token": TOKEN,
        "secret": APP_SECRET,
        "phone": PHONE,
        "to": ANN,
        "message": next(iter(meta.received)),
        "body": body.decode(),
        "signature": signed(body)["x-hub-signature-256"],
    }
    process = await asyncio.create_subprocess_exec(
        node,
        str(ROOT / "tests/fakes/node/whatsapp.mjs"),
        json.dumps(given),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    told = json.loads(out)
    assert told["received"] == ["from the double", "Person 001"]
    assert [one["type"] for one in meta.sent] == ["text", "interactive", "interactive", "document"]
    assert told["sent"] == [one["id"] for one in meta.sent] and len(meta.marked) == 1
    assert told["file"] == "text/plain" and told["refused"] == 131047


ROOT = Path(__file__).parents[2]
