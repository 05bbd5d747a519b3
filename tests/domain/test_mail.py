"""Mail from strangers: what is handed on is bounded, and no header that its sender wrote proves who it was."""

from __future__ import annotations

import base64
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.domain.mail import MOST_TEXT, read_mail

PROOF = "mx.example.com"
PASSED = "Authentication-Results: mx.example.com; dkim=pass header.d=example.org header.s=a; spf=none"


def of(*head: str, text: str = "Hello.") -> bytes:
    return "\r\n".join([*head, "", text]).encode("utf-8", "surrogateescape")


def test_the_text_is_handed_on_and_attachments_are_only_named() -> None:
    raw = of(
        "From: =?utf-8?q?J=C3=BCrgen?= <j@example.org>",
        "Subject: =?iso-8859-1?q?Gr=FC=DFe?=",
        'Content-Type: multipart/mixed; boundary="b"',
        text="--b\r\nContent-Type: text/plain; charset=windows-1252\r\n"
        "Content-Transfer-Encoding: quoted-printable\r\n\r\n"
        "10 =80 please\r\n--b\r\nContent-Type: text/html\r\n\r\n<b>10</b>\r\n--b\r\n"
        "Content-Type: application/pdf\r\n"
        'Content-Disposition: attachment; filename="in\tvoice.pdf"\r\n\r\n%PDF-\r\n--b--',
    )
    mail = read_mail(raw, "")
    assert "From: Jürgen <j@example.org>" in mail.text and mail.delivery.startswith("Grüße (")
    assert "10 € please" in mail.text and "<b>" not in mail.text and "%PDF" not in mail.text
    assert "Attachment, not opened: in voice.pdf (application/pdf)" in mail.text
    only = of("Content-Type: text/html; charset=utf-8", text="<p>Only this</p>")
    assert "<p>Only this</p>" in read_mail(only, "").text


@pytest.mark.parametrize(
    ("head", "proven"),
    [
        ((PASSED, "From: Mira <mira@example.org>"), "example.org"),
        (("Authentication-Results: mx.example.com 1; dmarc=pass (p=none) header.from=Example.org",) * 1
         + ("From: mira@example.org",), "example.org"),
        (("From: mira@example.org",), ""),
        ((PASSED, "From: mal@example.net"), ""),
        ((PASSED, PASSED, "From: mira@example.org"), ""),
        ((PASSED, "From: mira@example.org", "From: mal@example.net"), ""),
        ((PASSED, "From: mira@example.org, mal@example.net"), ""),
        ((PASSED, 'From: "mira@example.org" <mal@example.net>'), ""),
        ((PASSED.replace("mx.example.com", "mx.example.com.evil.example.net"), "From: mira@example.org"), ""),
        ((PASSED.replace("dkim=pass", "dkim=fail"), "From: mira@example.org"), ""),
        ((PASSED.replace("dkim=pass header.d", "dkim=fail (dkim=pass header.d=example.org) x"),
          "From: a@example.org"), ""),
        (('Authentication-Results: mx.example.com; spf=fail smtp.mailfrom="; dkim=pass header.d=example.org; "',
          "From: a@example.org"), ""),
        (('Authentication-Results: mx.example.com; spf=fail smtp.mailfrom="\\"; dkim=pass header.d=example.org; "',
          "From: a@example.org"), ""),
        (("Authentication-Results: mx.example.com; spf=fail x=(; dkim=pass header.d=example.org",
          "From: a@example.org"), ""),
        ((PASSED, "From: mira@example.org.evil.example.net"), ""),
        ((PASSED, "From: mira@sub.example.org"), ""),
    ],
)  # fmt: skip
def test_a_sender_is_proven_by_the_own_servers_word_alone(head: tuple[str, ...], proven: str) -> None:
    assert read_mail(of(*head), PROOF).proven == proven
    assert read_mail(of(*head), "").proven == "", "without a server that is named nothing is proven"


def nested(depth: int) -> bytes:
    parts = [f"Content-Type: multipart/mixed; boundary=b{at}\r\n\r\n--b{at}\r\n" for at in range(depth)]
    return "".join(parts).encode() + b"Content-Type: text/plain\r\n\r\ndeep"


HOSTILE = {
    "nothing": b"",
    "zeros": b"\0" * 100_000,
    "nested": nested(5_000),
    "a long header": of("Subject: " + "=?utf-8?q?a?= " * 60_000),
    "many headers": of(*[f"X-{at}: y" for at in range(60_000)]),
    "many parts": of("Content-Type: multipart/mixed; boundary=b", text="--b\r\n\r\nx\r\n" * 60_000),
    "a charset of its own": of("Content-Type: text/plain; charset=punycode", text="a-" + "b" * 500_000),
    "a charset that is none": of("Content-Type: text/plain; charset=zlib", text="x"),
    "idna": of("Subject: =?idna?q?" + "xn--a." * 50_000 + "?="),
    "broken base64": of("Content-Transfer-Encoding: base64", text="=" * 500_000),
    "uuencode": of("Content-Transfer-Encoding: uuencode", text="begin 644 x\r\n" + "M" * 300_000),
    "brackets": of(f"Authentication-Results: {PROOF}; " + "(" * 300_000, "From: " + "<" * 200_000),
    "addresses": of("From: " + "a@example.org," * 60_000, PASSED),
    "folded": of("Subject: a" + "\r\n " * 200_000),
    "surrogates": b"From: \xff\xfe\xed\xa0\x80 <a@\xff>\r\nSubject: =?utf-8?b?/+3g?=\r\n\r\n\xed\xa0\x80",
    "parameters": of("Content-Type: text/plain;" + " a*0*=utf-8''%41;" * 30_000),
    "mail in mail": of("Content-Type: message/rfc822", text="Content-Type: message/rfc822\r\n\r\n" * 20_000),
    "a bomb": of("Content-Transfer-Encoding: base64", text=base64.b64encode(b"x" * 700_000).decode()),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_mail_is_read_in_time_and_within_bounds(name: str) -> None:
    began = time.process_time()
    mail = read_mail(HOSTILE[name][:1_000_000], PROOF)
    assert time.process_time() - began < 3
    assert len(mail.text) < MOST_TEXT + 60_000 and mail.proven == ""
    mail.text.encode("utf-8", "replace")
    assert "\n" not in mail.delivery and len(mail.delivery) < 200


_PIECES = [b"From: a@example.org\r\n", b"Subject: =?", b"?=", b"\r\n", b"--b", b"\xff", b"\0", b";", b"charset*0*=x''"]
_PIECES += [b"Content-Type: multipart/mixed; boundary=b\r\n", PASSED.replace("pass", "fail").encode()]


@given(st.binary(max_size=2_000) | st.lists(st.sampled_from(_PIECES), max_size=40).map(b"".join))
def test_whatever_bytes_there_are_they_are_read(raw: bytes) -> None:
    assert read_mail(raw, PROOF).proven == ""


def test_no_two_deliveries_are_one_and_none_is_two() -> None:
    raw = of("Received: by mx id 1", "Message-ID: <same@x>", "Subject: a")
    again = of("Received: by mx id 2", "Message-ID: <same@x>", "Subject: a")
    assert read_mail(raw, "").delivery == read_mail(raw, "").delivery != read_mail(again, "").delivery
