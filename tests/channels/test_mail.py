"""E-mail as a channel: a real IMAP server and a real SMTP server, reached through a proxy as in a machine."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from email.message import EmailMessage
from itertools import count

import pytest
from aiosmtpd.smtp import LoginPassword

from stead.channels.mail import _own_words
from stead.domain.channel_wire import Down, Fetch, FileOut, Probe, Send, Up, Update
from tests.channels.driving import Driven, channel
from tests.fakes.dovecot import PASSWORD, USER, Dovecot, running_dovecot
from tests.fakes.receivers import Mailbox, mailbox
from tests.fakes.tunnel import Tunnel, tunnel

PIA, PROOF = "pia@example.org", "mx.example.com"
PASSED = f"{PROOF}; dmarc=pass (p=none) header.from=example.org"
FIRST = f"<first-{'x' * 200}@example.org>"
_ids = count(1)


def mail(text: str = "Hello.", **head: str) -> bytes:
    """A mail of Pia's that the server believes; a header is left out where it is ""."""
    given = {
        "Authentication-Results": PASSED,
        "From": f"Pia Plum <{PIA}>",
        "To": USER,
        "Message-ID": f"<{next(_ids)}@example.org>",
        **{name.replace("_", "-"): value for name, value in head.items()},
    }
    return "\r\n".join([*(f"{name}: {value}" for name, value in given.items() if value), "", text]).encode()


@dataclass
class Post:
    """Both servers, and the proxy before them."""

    imap: Dovecot
    smtp: Mailbox
    proxy: Tunnel

    @property
    def settings(self) -> dict[str, str]:
        return {
            "imap": f"imaps://localhost:{self.imap.port}",
            "smtp": f"smtps://localhost:{self.smtp.port}",
            "user": USER,
            "address": "Stead@example.com",
            "proof": PROOF,
        }

    async def deliver(self, *mails: bytes) -> None:
        await asyncio.to_thread(self.imap.deliver, *mails)

    @contextlib.asynccontextmanager
    async def channel(self, cursor: str = "", password: str = PASSWORD, **settings: str) -> AsyncIterator[Driven]:
        async with channel(
            "email",
            self.settings | settings,
            {"password": password},
            cursor=cursor,
            ca=self.imap.authorities.read_text(),
            environment={"HTTPS_PROXY": self.proxy.url, "HTTP_PROXY": self.proxy.url},
        ) as driven:
            yield driven
            assert PASSWORD.encode() not in driven.output


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[Post]:
    with contextlib.ExitStack() as stack:
        imap = await asyncio.to_thread(stack.enter_context, running_dovecot())
        trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trust.load_cert_chain(imap.authorities, imap.authorities.with_name("key.pem"))
        smtp = stack.enter_context(mailbox(trust, login=LoginPassword(USER.encode(), PASSWORD.encode())))
        async with tunnel(f"localhost:{imap.port}", f"localhost:{smtp.port}") as proxy:
            yield Post(imap, smtp, proxy)


@pytest.fixture
async def post() -> AsyncIterator[Post]:
    async with serving() as both:
        yield both


def send(text: str, thread: str = "", key: str = "k1", files: tuple[FileOut, ...] = ()) -> Send:
    return Send(0, key, PIA, thread, text, files=files)


async def test_a_mail_is_a_message_and_its_answer_stands_in_its_conversation(post: Post) -> None:
    async with post.channel() as driven:
        up = await driven.next(Up)
        assert up.account == "stead@example.com" and up.link == "mailto:stead%40example.com?body={}"
        letter = EmailMessage()
        letter["Authentication-Results"], letter["From"], letter["To"] = PASSED, f"Pia Plum <{PIA.upper()}>", USER
        letter["Subject"], letter["Message-ID"] = "Grüße and pears", FIRST
        letter.set_content("Sort these, please.\n\nPia\n")
        letter.add_attachment(b"%PDF- pears", maintype="application", subtype="pdf", filename="Äpfel.pdf")
        await post.deliver(letter.as_bytes())
        update = await driven.update()
        assert (update.person, update.chat, update.name) == (PIA, PIA, "Pia Plum")
        assert update.private and update.addressed and update.thread == FIRST
        assert update.text == "Grüße and pears\n\nSort these, please.\n\nPia"
        (file,) = update.files
        assert (file.name, file.media_type) == ("Äpfel.pdf", "application/pdf")
        assert (await driven.ask(Fetch(0, file.id))).data == b"%PDF- pears"

        done = await driven.ask(
            send("Sorted.\n.\n<b>plain</b>", update.thread, files=(FileOut("a\r\nb.csv", "text/csv", b"1,2"),))
        )
        assert not done.error
        (sent,) = post.smtp.mails
        assert post.smtp.envelopes == [("stead@example.com", (PIA,))]
        raw = dict(sent.raw_items())
        assert sent["Subject"] == "Re: Grüße and pears" and sent["Auto-Submitted"] == "auto-replied"
        assert raw["In-Reply-To"].strip() == FIRST == raw["References"].strip()
        assert sent["Message-ID"] == done.value and sent["From"] == "stead@example.com"
        body = sent.get_body(("plain",))
        assert (
            body
            and body.get_content().replace("\r", "") == "Sorted.\n.\n<b>plain</b>\n"
            and not sent.get_body(("html",))
        )
        (attached,) = sent.iter_attachments()
        assert attached.get_filename() == "a b.csv" and attached.get_content() == "1,2"

        said = "And the plums.\r\n\r\nOn Mon, 1 Jan 2029 Stead wrote:\r\n> Sorted.\r\n> .\r\n"
        await post.deliver(mail(said, References=f"{FIRST} {done.value}", Subject="Re: Grüße and pears"))
        answered = await driven.update()
        assert (answered.thread, answered.text, answered.forwarded) == (update.thread, "And the plums.", False)
        await driven.ask(send("Plums, too.", update.thread, "k2"))
        again = post.smtp.mails[-1]
        assert again["In-Reply-To"] != FIRST and again["References"].split()[0] == FIRST
    assert len(set(post.proxy.targets)) == 2 and not post.proxy.refused
    assert all(b"Seen" not in one for one in await asyncio.to_thread(post.imap.flags))


async def test_the_same_message_has_the_same_name_whenever_it_is_sent(post: Post) -> None:
    async with post.channel() as driven:
        names = [(await driven.ask(send("Once.", key=key))).value for key in ("a", "a", "b")]
    assert names[0] == names[1] != names[2]
    assert [one["Message-ID"] for one in post.smtp.mails] == names


async def test_an_answer_to_what_the_chat_was_sent_goes_to_the_chat(post: Post) -> None:
    async with post.channel() as driven:
        await driven.next(Up)
        name = (await driven.ask(send("The report is done.\nIt has 3 pages."))).value
        assert post.smtp.mails[-1]["Subject"] == "The report is done." and not post.smtp.mails[-1]["In-Reply-To"]
        assert post.smtp.mails[-1]["Auto-Submitted"] == "auto-generated"
        await post.deliver(mail("Thanks.", In_Reply_To=name, Subject="Re: The report is done."))
        assert (update := await driven.update()).thread == "" and update.text == "Thanks."
        again = (await driven.ask(send("You are welcome.", key="k2"))).value
        sent = post.smtp.mails[-1]
        assert sent["Subject"] == "Re: The report is done." and sent["References"].split()[0] == name
        await driven.ask(send("Something else.", key="k3"))
        assert post.smtp.mails[-1]["Subject"] == "Something else."
        await post.deliver(mail("And?", References=f"{name} {again}"))
        assert (await driven.update()).thread == ""


async def test_the_subject_of_a_conversation_is_known_after_a_restart(post: Post) -> None:
    await post.deliver(mail(Subject="=?utf-8?q?Gr=C3=BC=C3=9Fe?=", Message_ID="<then@example.org>"))
    async with post.channel() as driven:
        await driven.ask(send("Later.", "<then@example.org>"))
        await driven.ask(send("Of one that is gone.", "<gone@example.org>", "k2"))
        assert (await driven.ask(send("x", "no id\r\nBcc: m@example.net", "k3"))).final
    assert [one["Subject"] for one in post.smtp.mails] == ["Re: Grüße", "Re: Of one that is gone."]
    assert post.smtp.mails[1]["References"] == "<gone@example.org>"


FORGED = {
    "no results": {"Authentication-Results": ""},
    "another server's": {"Authentication-Results": PASSED.replace(PROOF, "mx.example.net")},
    "failed": {"Authentication-Results": PASSED.replace("pass", "fail")},
    "another domain's": {"From": "pia@example.net"},
    "spf alone": {"Authentication-Results": f"{PROOF}; spf=pass smtp.mailfrom=example.org"},
    "in a comment": {"Authentication-Results": f"{PROOF}; dmarc=fail (dmarc=pass header.from=example.org)"},
    "twice": {"Authentication-Results": f"{PASSED}\r\nAuthentication-Results: {PASSED}"},
    "two authors": {"From": f"{PIA}, mal@example.net"},
    "two Froms": {"From": f"{PIA}\r\nFrom: mal@example.net"},
    "a name that is an address": {"From": f"{PIA} <mal@example.net>"},
    "a quoted name": {"From": f'"{PIA}" <mal@example.net>'},
    "a comment": {"From": f"mal@example.net ({PIA})"},
    "an end in the middle": {"From": f"{PIA}>mal@example.net"},
    "a quoted local part": {"From": '"pia@example.org"@example.org'},
}
AUTOMATIC = {
    "replied": {"Auto-Submitted": "auto-replied (vacation)"},
    "generated": {"Auto-Submitted": "Auto-Generated; by=x"},
    "bulk": {"Precedence": "bulk"},
    "list": {"List-Id": "<pears.example.org>"},
    "bounce": {"Return-Path": "<>"},
    "report": {"Content-Type": "multipart/report; boundary=b"},
    "our own": {"From": "STEAD@example.com", "Authentication-Results": PASSED.replace("example.org", "example.com")},
}


async def test_mail_that_nobody_proves_and_mail_of_programs_is_no_message(post: Post) -> None:
    async with post.channel() as driven:
        await driven.next(Up)
        await post.deliver(*(mail(**{k.replace("-", "_"): v for k, v in head.items()}) for head in FORGED.values()))
        await post.deliver(*(mail(**{k.replace("-", "_"): v for k, v in head.items()}) for head in AUTOMATIC.values()))
        await post.deliver(mail("Real.", Auto_Submitted="no"))
        assert (await driven.update()).text == "Real."
        told = (await driven.ask(Probe(0))).value
        assert told == f"stead@example.com; mails left, as nothing proved their senders: {len(FORGED)}"
    async with post.channel(proof="mx.example.net") as driven:
        await driven.next(Up)
        await post.deliver(mail())
        await post.deliver(mail(Authentication_Results=PASSED.replace(PROOF, "mx.example.net")))
        assert (await driven.update()).person == PIA


async def test_only_what_comes_after_it_was_added_is_read_and_from_there_on_all(post: Post) -> None:
    await post.deliver(mail("Before."))
    async with post.channel() as driven:
        await driven.next(Up)
        await post.deliver(mail("First."))
        first = await driven.update()
    await post.deliver(mail("While away."), mail("And again."))
    async with post.channel(first.cursor) as driven:
        assert [(await driven.update()).text for _ in range(2)] == ["While away.", "And again."]


async def _flow(post: Post, mails: int, lives_s: Iterator[float]) -> list[str]:
    """Take in mail while the process is killed again and again; the texts, each once, as they were recorded."""
    async with post.channel() as driven:
        await driven.next(Up)
        await post.deliver(mail("0"))
        cursor = (await driven.update()).cursor
    seen: dict[str, str] = {}
    delivering = asyncio.create_task(_trickle(post, mails))
    while len(seen) < mails:
        async with post.channel(cursor) as driven:
            until = time.monotonic() + next(lives_s, 60.0)
            while len(seen) < mails and (left := until - time.monotonic()) > 0:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(left):
                        update = await driven.update()
                        seen.setdefault(update.id, update.text)
                        cursor = update.cursor
    await delivering
    return list(seen.values())


async def _trickle(post: Post, mails: int) -> None:
    for number in range(1, mails + 1):
        await post.deliver(mail(str(number)))


async def test_a_process_that_is_killed_again_and_again_loses_no_mail(post: Post) -> None:
    texts = await _flow(post, 30, iter([1.2, 0.9, 1.5, 1.1, 2.0, 1.3]))
    assert texts == [str(number) for number in range(1, 31)]


async def test_connections_that_are_cut_again_and_again_lose_no_mail_and_keep_its_order(post: Post) -> None:
    sent = asyncio.Event()

    async def cut() -> None:
        cuts = 0
        while cuts < 3:
            await asyncio.sleep(0.5)  # what is tested is a cut at any time
            cuts += bool(post.proxy.drop())
        sent.set()

    async def trickle() -> int:
        number = 0
        while not sent.is_set():
            number += 1
            await post.deliver(mail(str(number)))
        return number

    async with post.channel() as driven:
        await driven.next(Up)
        cutting, delivering = asyncio.create_task(cut()), asyncio.create_task(trickle())
        seen: dict[str, str] = {}
        while not delivering.done() or len(seen) < delivering.result():
            update = await driven.update()
            seen.setdefault(update.id, update.text)
        await cutting
    assert list(seen.values()) == [str(number) for number in range(1, delivering.result() + 1)]


async def test_a_server_that_numbers_its_mail_anew_brings_the_same_mails_under_the_same_names(post: Post) -> None:
    async with post.channel() as driven:
        await driven.next(Up)
        await post.deliver(mail("One."))
        one = await driven.update()
        await asyncio.to_thread(post.imap.count_anew)
        await post.deliver(mail("Two."))
        found = [await driven.update()]
        while found[-1].text != "Two.":
            found.append(await driven.update())
        assert {update.id for update in found if update.text == "One."} <= {one.id}
    await post.deliver(mail("Three."))
    async with post.channel(found[-1].cursor) as driven:
        assert (await driven.update()).text == "Three."


@pytest.mark.long
async def test_a_server_without_idle_is_asked_again_and_again(post: Post) -> None:
    await asyncio.to_thread(post.imap.stop)
    post.imap.capability = "IMAP4rev1"
    await asyncio.to_thread(post.imap.start)
    async with post.channel() as driven:
        await driven.next(Up)
        await post.deliver(mail("Polled."))
        assert (await driven.update()).text == "Polled."


async def test_a_password_that_is_refused_ends_it_and_stands_in_no_output(post: Post) -> None:
    async with post.channel(password="not-this-word") as driven:
        down = await driven.next(Down)
        assert down.final and "did not let" in down.text
        done = await driven.ask(send("Hello."))
        assert done.error.startswith("the mail server answers 535") and not done.final
        assert b"not-this-word" not in driven.output


@pytest.mark.parametrize(
    "answer", [b"", b"A1 NO [UNAVAILABLE] try later, pears-and-plums-for-pia\r\n", b"\xff\x00 (((\r\n" * 9000]
)
async def test_a_server_that_fails_over_a_login_is_tried_again_and_the_password_stands_nowhere(
    post: Post, answer: bytes
) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"* OK [CAPABILITY IMAP4rev1] here\r\n")
        with contextlib.suppress(OSError):
            while line := await reader.readline():
                tag = line.split()[0]
                if b"CAPABILITY" in line:
                    writer.write(b"* CAPABILITY IMAP4rev1\r\n%s OK\r\n" % tag)
                elif b"LOGIN" in line and answer:
                    writer.write(answer.replace(b"A1", tag))
                elif b"LOGIN" in line:
                    writer.close()

    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trust.load_cert_chain(post.imap.authorities, post.imap.authorities.with_name("key.pem"))
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=trust)
    port = server.sockets[0].getsockname()[1]
    post.proxy.allowed.add(f"localhost:{port}")
    async with post.channel(imap=f"imaps://localhost:{port}") as driven:
        down = await driven.next(Down)
        assert not down.final and PASSWORD not in down.text
    server.close()


@pytest.mark.parametrize(
    "settings",
    [{"smtp": "smtp://localhost:587"}, {"smtp": "smtps://localhost:587"}, {"imap": "imaps://localhost:143"}, {"imap": "imap://localhost"}],
)  # fmt: skip
async def test_servers_that_need_starttls_are_refused_in_words(post: Post, settings: dict[str, str]) -> None:
    async with post.channel(**settings) as driven:
        down = await driven.next(Down)
        assert down.final and "STARTTLS" in down.text
    assert not post.proxy.targets


async def test_what_the_mail_server_refuses_is_told_and_not_tried_in_a_storm(post: Post) -> None:
    async with post.channel() as driven:
        post.smtp.refusals[PIA] = "451 4.7.1 greylisted"
        later = await driven.ask(send("Hello."))
        assert later.after_s >= 30 and not later.final and "greylisted" in later.error
        post.smtp.refusals[PIA] = "550 5.1.1 nobody here"
        never = await driven.ask(send("Hello."))
        assert never.final and "nobody here" in never.error
        assert (await driven.ask(Send(0, "k", "pia@example.org\r\nRCPT TO:<m@example.net>", "", "x"))).final
        post.proxy.allowed.clear()
        shut = await driven.ask(send("Hello."))
        assert "403" in shut.error and not shut.final
    assert not post.smtp.mails


QUOTING = {
    "above": "Yes.\n\nOn Mon, 1 Jan 2029 at 10:00 Stead <s@example.com> wrote:\n> Shall I?\n> It is much.",
    "German": "Yes.\n\nAm 01.01.2029 um 10:00 schrieb Stead:\n> Shall I?\n",
    "Outlook": f"Yes.\n\n{'_' * 32}\nFrom: Stead <s@example.com>\nSent: Monday\nTo: Pia\n\nShall I?",
    "between": "See below.\nOn Mon, 1 Jan 2029 Stead wrote:\n> Shall I?\nYes.\n> And the plums?\nNo.",
    "below": "On Mon, 1 Jan 2029 Stead wrote:\n> Shall I?\n\nYes.",
    "unknown": "Yes.\n\nQuux: Stead <s@example.com>\nTeemana: Hrusky\n\nShall I?",
    "marked": "Yes.\n> Shall I?",
}
PLAIN = "Yes.\n    indented -> so\nsee https://example.com/a:b, at 10:30: pears\nmail ada@example.com"


@pytest.mark.parametrize("name", QUOTING)
def test_what_it_wrote_itself_is_not_read_to_it_again_and_what_others_wrote_is_not_a_persons_word(name: str) -> None:
    text, cut = QUOTING[name].strip(), name in ("above", "German", "Outlook")
    assert _own_words(QUOTING[name], answers_us=True) == (("Yes.", False) if cut else (text, True))
    assert _own_words(QUOTING[name], answers_us=False) == (text, True)
    assert _own_words(PLAIN, answers_us=True) == _own_words(PLAIN, answers_us=False) == (PLAIN, False)


def test_a_signature_is_no_part_of_the_words_and_hides_nothing_that_was_passed_on() -> None:
    code = "ABCD-EFGH\n-- \nPia Plum\nmail pia@example.org"
    assert _own_words(code, answers_us=False) == ("ABCD-EFGH", False)
    answer = "Yes.\n-- \nPia\n\nOn Mon, 1 Jan 2029 Stead wrote:\n> Shall I?"
    assert _own_words(answer, answers_us=True) == ("Yes.", False)
    passed_on = "Look.\n-- \nPia\n\n> Pears, please."
    assert _own_words(passed_on, answers_us=False) == (passed_on, True)


HOSTILE_TEXT = (
    *("On " * 30_000, "On a\n" * 20_000, "From: " * 15_000, "From:\n" * 15_000, ">" * 90_000, "> " * 40_000),
    *("\n" * 90_000, "Am " * 9_000 + "schrieb" * 9_000, "a:@\n" * 20_000, "a:@" + "\n" * 90_000, "*> " * 30_000),
)


@pytest.mark.parametrize("text", HOSTILE_TEXT, ids=lambda text: repr(text[:6]))
def test_hostile_text_is_searched_for_quotes_in_bounded_time(text: str) -> None:
    began = time.process_time()
    assert len(_own_words(text, answers_us=True)[0]) <= len(text)
    assert time.process_time() - began < 6


async def test_a_mail_of_others_is_passed_on_whole_and_is_not_the_persons_word(post: Post) -> None:
    async with post.channel() as driven:
        await driven.next(Up)
        said = "What does she want?\r\n\r\nOn Mon, 1 Jan 2029 Mira wrote:\r\n> Pears.\r\n"
        await post.deliver(mail(said, References="<mira@example.net>", Subject="Fwd: pears"))
        update = await driven.update()
        assert "> Pears." in update.text and update.forwarded
        await post.deliver(mail("Pears.", References="<mira@example.net>"))
        assert (await driven.update()).forwarded, "it answers others, however it quotes them"
        await post.deliver(mail("/status", Subject="a command"), mail("abcd-efgh", Subject="a code"))
        commands = [await driven.update() for _ in range(2)]
        assert [one.text for one in commands] == ["/status", "abcd-efgh"] and not any(one.forwarded for one in commands)
        await post.deliver(mail("<p>Pears &amp; <b>plums</b></p><script>x</script>", Content_Type="text/html"))
        assert (update := await driven.update()).text == "Pears & plums" and not update.forwarded
        await post.deliver(mail("See<blockquote>Pears</blockquote>", Content_Type="text/html"))
        assert (await driven.update()).forwarded
        inner = "From: mal@example.net\r\nSubject: hi\r\n\r\nPears."
        parts = f"--b\r\n\r\nSee it.\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n{inner}\r\n--b--"
        await post.deliver(mail(parts, Content_Type="multipart/mixed; boundary=b"))
        update = await driven.update()
        assert update.text == "See it." and not update.forwarded
        assert b"Pears." in (await driven.ask(Fetch(0, update.files[0].id))).data


def _nested(depth: int) -> bytes:
    parts = [f"Content-Type: multipart/mixed; boundary=b{at}\r\n\r\n--b{at}\r\n" for at in range(depth)]
    return mail()[:-10] + "".join(parts).encode() + b"Content-Type: text/plain\r\n\r\ndeep"


async def test_huge_and_hostile_mail_ends_nothing_and_takes_bounded_time(post: Post) -> None:
    long_head = mail(Message_ID="<x@example.org>", Subject="\r\n ".join(["a" * 900] * 11_000))
    part_head = b"--b\r\nContent-Type: text/plain;" + b" a*0*=utf-8''%41;" * 300_000 + b"\r\n\r\nx\r\n--b--"
    hostile = [
        long_head,
        _nested(400),
        mail("--b\r\n\r\nx\r\n" * 60_000, Content_Type="multipart/mixed; boundary=b"),
        mail(part_head.decode(), Content_Type="multipart/mixed; boundary=b"),
        mail("x", Content_Type="text/plain; charset=zlib"),
        mail("=" * 500_000, Content_Transfer_Encoding="base64"),
        mail("\n--b" * 900 + "\n" * 3_000_000),
        mail(References="<a@b> " * 20_000),
    ]
    async with post.channel() as driven:
        await driven.next(Up)
        await post.deliver(*hostile)
        large = "\r\n".join(["a" * 70] * 150_000)
        await post.deliver(mail(large, Subject="large"), mail("After.", Message_ID=""))
        taken: list[Update] = [await driven.update()]
        while taken[-1].text != "After.":
            taken.append(await driven.update())
        assert any("what follows was not read" in one.text and len(one.text) <= 100_000 for one in taken)
        assert taken[-1].thread.startswith("<uid-") and len(taken) < 7
        with open(f"/proc/{driven.process.pid}/status") as status:
            peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        assert peak < 250_000, "kB"


async def test_a_file_that_is_too_large_or_gone_is_told_and_a_forged_name_of_one_ends_nothing(post: Post) -> None:
    async with post.channel() as driven:
        await driven.next(Up)
        letter = EmailMessage()
        letter["Authentication-Results"], letter["From"], letter["Message-ID"] = PASSED, PIA, "<f@example.org>"
        letter.set_content("Two files.")
        for size in (5_000_001, 4_000_000):
            letter.add_attachment(b"x" * size, maintype="application", subtype="zip", filename=f"{size}.zip")
        await post.deliver(letter.as_bytes())
        update = await driven.update()
        for file in update.files:
            assert "5 MB" in (await driven.ask(Fetch(0, file.id))).error
        for forged in ("", "1:2", "a:b:c", "1:1:1", "9" * 40 + ":1:1"):
            assert (await driven.ask(Fetch(0, forged))).error
        assert (await driven.ask(Probe(0))).value == "stead@example.com"
