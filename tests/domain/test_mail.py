"""Mail from strangers: what is handed on is bounded, and no header that its sender wrote proves who it was."""

from __future__ import annotations

import base64
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.domain.mail import MOST_TEXT, Attachment, Letter, attachment, read_letter, read_mail

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


def written(*head: str, text: str = "Hello.") -> Letter | str:
    return read_letter(of(PASSED, "From: Mira <Mira@Example.org>", *head, text=text), PROOF)


def test_a_mail_that_a_person_wrote_is_a_letter() -> None:
    letter = written(
        "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=",
        "Message-ID: <2@x>",
        "References: <1@x>\r\n <0@x> <1@x>",
        "In-Reply-To: <0@x>",
    )
    assert letter == Letter("mira@example.org", "Mira", "Grüße", "<2@x>", ("<1@x>", "<0@x>"), "Hello.", ())
    assert read_letter(of(PASSED, "From: mira@example.org"), "") == "unproven"
    assert written("Message-ID: <a b@x> <" + "x" * 400 + ">").message_id == ""  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "author",
    [
        "mira@example.org <mal@example.org.evil.example.net>", "mal@example.net, mira@example.org",
        "<mira@example.org> x@y.example", "mira@example.org (x)", '"a@b"@example.org', "mira(x)@example.org",
        "mira@example.org>mal@example.net", "@example.org", "friends: mira@example.org;", "m\u00efra@example.org",
        "=?utf-8?q?mira=40example.org?=", "mira@example.org\r\n mal@example.org", "mal@example.org <mira@example.org>",
    ],
)  # fmt: skip
def test_an_author_who_can_be_read_in_two_ways_is_nobody(author: str) -> None:
    assert read_letter(of(PASSED, f"From: {author}"), PROOF) == "unproven"


@pytest.mark.parametrize(
    ("author", "sender"),
    [
        ('"Mira, of <Pears> (Ltd)" <mira@example.org>', "mira@example.org"),
        ("=?utf-8?q?mal=40example=2Eorg?= <mira@example.org>", "mira@example.org"),
    ],
)
def test_a_name_is_never_the_address(author: str, sender: str) -> None:
    letter = read_letter(of(PASSED, f"From: {author}"), PROOF)
    assert isinstance(letter, Letter) and letter.sender == sender


def test_the_text_of_a_page_is_what_is_seen() -> None:
    page = (
        "<head><style>x</style></head><body><!-- <p>no</p> --><P>Pears &amp;<br>plums 2 < 3<script>a<b</script><p>end"
    )
    letter = written("Content-Type: text/html", text=page)
    assert isinstance(letter, Letter) and letter.text == "Pears &\nplums 2 < 3\nend"


PAGES = ("<", "<!", "<?", "<!--", "</", "<a ", '<a b="', "&", "&#", "<script>", "</scrip", "<br>", "<p><")


@pytest.mark.parametrize("piece", PAGES)
def test_a_hostile_page_is_read_in_time(piece: str) -> None:
    began = time.process_time()
    for tail in ("", "x", " "):
        assert written("Content-Type: text/html", text=piece * (140_000 // len(piece) // 2) + tail * 70_000)
    assert time.process_time() - began < 3


def test_a_large_mail_with_many_files_is_read() -> None:
    file = (
        "--b\r\nContent-Type: application/zip\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        + ("A" * 76 + "\r\n") * 2_000
    )
    letter = written(
        "Content-Type: multipart/mixed; boundary=b", text="--b\r\n\r\nAt the boundary.\r\n" + file * 50 + "--b--"
    )
    assert isinstance(letter, Letter) and letter.text == "At the boundary." and len(letter.attachments) == 20


def test_an_attachment_is_brought_by_its_number() -> None:
    raw = of(
        PASSED,
        "From: mira@example.org",
        "Content-Type: multipart/mixed; boundary=b",
        text="--b\r\n\r\nSee it.\r\n--b\r\nContent-Type: application/zip\r\nContent-Transfer-Encoding: base64\r\n"
        'Content-Disposition: attachment; filename="../a\tb.zip"\r\n\r\nAAEC\r\n--b--',
    )
    letter = read_letter(raw, PROOF)
    assert isinstance(letter, Letter) and letter.text == "See it."
    assert letter.attachments == (Attachment(1, "../a b.zip", "application/zip", 3),)
    assert attachment(raw, 1) == b"\0\1\2" and attachment(raw, 2) is None and attachment(b"\xff" * 99, 9) is None


MIXED = (PASSED, "From: mira@example.org", "Content-Type: multipart/mixed; boundary=b")
LARGE = {
    "lines": of(PASSED, "From: mira@example.org", text="\n" * 8_000_000),
    "nested lines": nested(400) + b"\n" * 8_000_000,
    "a part's headers": of(*MIXED, text="--b\r\nContent-Type: text/plain; " + " a*0*=%41;" * 70_000),
    "headers of parts": of(*MIXED, text=("--b\r\n" + "X: y\r\n" * 5_000) * 250),
    "steps": nested(400) + b"\n" * 6_000,
    "base64": of("Content-Transfer-Encoding: base64", text="AAAA" * 2_000_000),
    "numbers": of(PASSED, "From: mira@example.org", "Content-Type: text/html", text="&#" + "9" * 140_000 + ";"),
}  # fmt: skip


@pytest.mark.parametrize("name", [*LARGE, *HOSTILE])
def test_a_hostile_letter_of_any_size_is_read_in_time(name: str) -> None:
    raw = (LARGE | HOSTILE)[name][:8_000_000]
    began = time.process_time()
    letter = read_letter(raw, PROOF)
    attachment(raw, 50)
    assert time.process_time() - began < 6
    assert isinstance(letter, str) or len(letter.text) <= MOST_TEXT
