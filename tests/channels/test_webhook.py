"""Signed webhooks as a channel: a program that is a real server, and signs by the library of Standard Webhooks."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook

from stead.domain.channel_wire import Button, Down, Edit, Fetch, FileOut, Probe, Request, Response, Send, Up, Update
from tests.channels.driving import Driven, channel
from tests.fakes.dovecot import own_certificate
from tests.fakes.program import SECRET, Answer, Json, Program, program
from tests.fakes.tunnel import tunnel

OTHER = "whsec_" + base64.b64encode(b"another secret of 32 bytes......").decode()


@contextlib.asynccontextmanager
async def driven_by(there: Program, secret: str = SECRET, **more: Any) -> AsyncIterator[Driven]:
    async with channel("webhook", {"url": there.url}, {"secret": secret}, **more) as driven:
        yield driven
        assert secret.encode() not in driven.output and b"/hook/tok" not in driven.output


def signed(body: object, id: str = "msg_1", secret: str = SECRET, ago: timedelta = timedelta()) -> Request:
    """A request as the library signs it."""
    raw = body if isinstance(body, str) else json.dumps(body)
    at = datetime.now(UTC) - ago
    headers = {
        "webhook-id": id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign(id, at, raw),
    }
    return Request(0, "POST", "", headers, raw.encode())


WROTE: Json = {"chat": "room", "person": "u1", "text": "Sort the pears."}


async def test_what_is_written_there_comes_in_and_is_answered_once_it_is_recorded() -> None:
    async with program() as there, driven_by(there) as driven:
        up = await driven.next(Up)
        assert (up.name, up.link) == ("127.0.0.1", "")
        body = WROTE | {
            "thread": "t",
            "name": "Pia",
            "private": True,
            "addressed": False,
            "title": "Pears",
            "forwarded": True,
        }
        driven.tell(signed(body | {"files": [{"id": "f1", "name": "a.csv", "media_type": "text/csv"}]}))
        update = await driven.next(Update)
        assert (update.id, update.chat, update.thread, update.person) == ("msg_1", "room", "t", "u1")
        assert (update.name, update.title, update.text) == ("Pia", "Pears", "Sort the pears.")
        assert update.private and update.addressed and update.forwarded
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await driven.next(Response)
        driven.tell(http_ack(update))
        assert (await driven.next(Response)).status == 200
        there.files["f1"] = b"1,2\n"
        assert (await driven.ask(Fetch(0, update.files[0].id))).data == b"1,2\n"
        assert "without the file" in (await driven.ask(Fetch(0, "f2"))).error
        there.files["f3"] = b"x" * 5_000_001
        assert "5 MB" in (await driven.ask(Fetch(0, "f3"))).error

        driven.tell(signed({"chat": "room", "person": "u2", "press": "p1", "data": "ok:1", "message": "m1"}, "msg_2"))
        press = await driven.update()
        assert (press.press, press.data, press.private) == ("p1", "ok:1", False)


def http_ack(update: Update) -> Any:
    from stead.domain.channel_wire import Ack

    return Ack(update.n)


async def test_messages_edits_buttons_and_files_go_out_signed() -> None:
    async with program() as there, driven_by(there) as driven:
        rows = ((Button("Yes", "ok:1"), Button("No", "no:1")),)
        there.answers = [(201, {}, b'{"message": "m-77"}'), (202, {}, b"<p>fine</p>"), (200, {}, b'{"message": 7}')]
        sent = Send(0, "key-1", "room", "t", "Shall I? <b>", rows, (FileOut("a.bin", "application/zip", b"\x00\xff"),))
        assert (await driven.ask(sent)).value == "m-77"
        assert (await driven.ask(Send(0, "key-2", "room", "", "x"))).value == "key-2"
        assert not (await driven.ask(Edit(0, "room", "m-77", "Done."))).error
        shown = [[{"text": "Yes", "data": "ok:1"}, {"text": "No", "data": "no:1"}]]
        file = {"name": "a.bin", "media_type": "application/zip", "base64": "AP8="}
        assert there.taken == [
            {
                "type": "message",
                "chat": "room",
                "thread": "t",
                "text": "Shall I? <b>",
                "buttons": shown,
                "files": [file],
            },
            {"type": "message", "chat": "room", "thread": "", "text": "x", "buttons": [], "files": []},
            {"type": "edit", "chat": "room", "message": "m-77", "text": "Done.", "buttons": []},
        ]
        assert there.ids[:2] == ["key-1", "key-2"] and set(there.paths) == {"/hook/tok?a=1"}


def forged() -> list[Request]:
    right = signed(WROTE)
    return [
        signed(WROTE, secret=OTHER),
        signed(WROTE, ago=timedelta(minutes=6)),
        signed(WROTE, ago=timedelta(minutes=-6)),
        Request(0, "POST", "", {}, right.body),
        Request(0, "POST", "", right.headers, json.dumps(WROTE | {"person": "u2"}).encode()),
        Request(0, "POST", "", right.headers | {"webhook-id": "msg_9"}, right.body),
    ]


async def test_what_is_not_signed_or_not_well_formed_brings_nothing_and_ends_nothing() -> None:
    sent_by_us = {"type": "message", "chat": "room", "thread": "", "text": "x", "buttons": [], "files": []}
    malformed = [
        sent_by_us, {}, [], "null", "[" * 100_000, "{", WROTE | {"chat": 7}, WROTE | {"person": ""},
        WROTE | {"text": ""},
        WROTE | {"text": "x" * 100_001}, WROTE | {"person": "x" * 501}, WROTE | {"role": "owner"},
        WROTE | {"files": [{"id": "f", "name": "n"}] * 21}, '{"chat": "r", "person": "\\ud800", "text": "x"}',
    ]  # fmt: skip
    async with program() as there, driven_by(there) as driven:
        for request in forged():
            driven.tell(request)
            assert (await driven.next(Response)).status == 401
        for body in malformed:
            driven.tell(signed(body))
            response = await driven.next(Response)
            assert response.status == 400 and json.loads(response.body)["error"], body
        driven.tell(Request(0, "GET", "challenge=x", {}, b""))
        assert (await driven.next(Response)).status == 405
        driven.tell(signed(WROTE | {"text": "Real."}, "msg_3"))
        assert (await driven.update()).text == "Real."


async def test_a_process_that_is_killed_before_it_answered_is_sent_the_same_again() -> None:
    async with program() as there:
        for life in range(3):
            async with driven_by(there) as driven:
                driven.tell(signed(WROTE, "msg_1"))
                assert (await driven.next(Update)).id == "msg_1"
                if life == 2:
                    driven.tell(http_ack(Update("", "", "", private=False, n=1)))
                    assert (await driven.next(Response)).status == 200


async def test_what_the_program_refuses_is_told_with_its_hint_and_not_tried_again() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    async with program() as there, driven_by(there) as driven:
        await driven.next(Up)
        cases: list[tuple[Answer | str, float, bool, str]] = [
            ((429, {"Retry-After": "17"}, b""), 17, False, "429"),
            ((503, {"Retry-After": soon}, b""), 90, False, "503"),
            ((503, {"Retry-After": "9" * 50}, b""), 3600, False, "503"),
            ((500, {"Retry-After": "soon"}, b""), 0, False, "500"),
            ((400, {"Retry-After": "5"}, b""), 0, True, "400"),
            ((302, {"Location": "http://127.0.0.1:1/"}, b""), 0, True, "not followed"),
            ("garbage", 0, False, "no HTTP"),
            ("drop", 0, False, ""),
        ]
        for number, (answer, after_s, final, words) in enumerate(cases):
            there.answers = [answer]
            done = await driven.ask(Send(0, f"k{number}", "room", "", "x"))
            assert done.error and words in done.error and done.final is final
            assert after_s - 5 <= done.after_s <= after_s
        assert len(there.paths) == 1 + len(cases), "each was tried once, after the ping"
        assert (await driven.ask(Send(0, "last", "room", "", "x"))).value == "last"


async def test_a_program_that_does_not_know_the_secret_ends_it() -> None:
    async with program(OTHER) as there, driven_by(there) as driven:
        down = await driven.next(Down)
        assert down.final and "401" in down.text
        assert (await driven.ask(Probe(0))).final
    async with program() as there, driven_by(there) as driven:
        await driven.next(Up)
        there.secret = OTHER
        done = await driven.ask(Send(0, "k", "room", "", "x"))
        assert done.error and not done.final, "with another secret it can be sent"
        assert (await driven.next(Down)).final


async def test_through_the_proxy_it_is_tls_from_the_first_byte_and_the_certificate_is_checked(tmp_path: Path) -> None:
    certificate, key = own_certificate()
    for name, data in (("cert.pem", certificate), ("key.pem", key)):
        (tmp_path / name).write_bytes(data)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    async with program(tls=tls) as there, tunnel() as proxy:
        target = there.url.split("/")[2]
        proxy.allowed.add(target)
        environment = {"HTTPS_PROXY": proxy.url, "HTTP_PROXY": proxy.url}
        async with driven_by(there, ca=certificate.decode(), environment=environment) as driven:
            assert (await driven.next(Up)).name == "localhost"
            assert (await driven.ask(Send(0, "k", "room", "", "x"))).value == "k"
            assert proxy.targets == [target] and not proxy.refused, "one connection serves both"
        async with driven_by(there, environment=environment) as driven:
            assert "certificate" in (await driven.next(Down)).text
        proxy.allowed.clear()
        async with driven_by(there, environment=environment) as driven:
            assert "403" in (await driven.next(Down)).text
    assert len(there.taken) == 1


async def test_without_tls_the_proxy_is_given_the_whole_address() -> None:
    async with program() as there:
        proxy, there.url = there.url.partition("/hook")[0], "http://pears.example.com/in"
        async with driven_by(there, environment={"HTTP_PROXY": proxy}) as driven:
            assert (await driven.next(Up)).name == "pears.example.com"
    assert there.paths == ["http://pears.example.com/in"]
