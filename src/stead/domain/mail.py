"""A mail as it came from strangers: what is handed on of it, and whom it is proven to come from.

Layer: domain. Pure. The standard library's parser reads it in its plain form (``compat32``), which keeps headers as
they are and has no grammar to be led astray by; what is decoded is bounded before and after. Attachments are named,
and never opened.

Sources: RFC 5322, RFC 2047, RFC 8601 (Authentication-Results; §5 has the mailbox's server remove forged ones),
RFC 3834 (Auto-Submitted).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from email.header import decode_header
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32
from email.utils import getaddresses
from html import unescape
from itertools import islice
from typing import Literal, NamedTuple

MOST_TEXT = 150_000
"""Characters of a mail's text."""
_MOST_HEADER, _MOST_PARTS = 500, 100
MOST_HEAD_BYTES, _MOST_LINES = 64_000, 1_000
"""Of all headers; that could begin a part. Past them the parser takes seconds."""
_MOST_STEPS = 3_000_000
"""Parts that could hold others, or 10, times lines: each line is held against every part that it could end."""
_MOST_PART_HEAD = 8_000
_SHOWN = ("From", "To", "Cc", "Date", "Subject", "Reply-To")
_CHARSETS = re.compile(
    r"utf-?8|us-ascii|ascii|iso-8859-\d{1,2}|(windows-|cp)125\d|koi8-[ru]|gb(2312|k|18030)|big5|shift_jis|euc-(jp|kr)"
    r"|iso-2022-jp"
)
"""Those that take linear time."""
_COMMENT = re.compile(r"\([^()\\]*\)")
_QUOTED = re.compile(r'"[^"\\]*"')
_AUTHOR = re.compile(r"(?:[^<>()]*<)?(?P<address>[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)+)>?\s*")
MESSAGE_ID = re.compile(r"<[!-;=?-~]{1,300}>")
_FAULTS = (ValueError, LookupError, TypeError, AttributeError, RecursionError, AssertionError)
"""What the parser is led into by hostile mail."""


class Mail(NamedTuple):
    """What is made of a mail.

    Args:
        delivery: its subject, and a digest of its bytes, which no other delivery has: each server adds a line.
        text: what a run is handed.
        proven: the domain that it comes from by the word of the mailbox's own server; "" where nothing proves it.
    """

    delivery: str
    text: str
    proven: str


class Attachment(NamedTuple):
    """What came with a mail. ``number``: to ask ``attachment`` for it; ``size_bytes``: about so many."""

    number: int
    name: str
    media_type: str
    size_bytes: int


class Letter(NamedTuple):
    """A mail that a person wrote.

    Args:
        sender: the address, in lower case, proven by the word of the mailbox's own server.
        name: what the sender is called by their own word.
        subject: in one line.
        message_id: its own, with its brackets; "" for none.
        references: the Message-IDs of the mails before it in its conversation, the first one first; none begins one.
        text: what its author sees, with what it quotes.
        attachments: up to 20.
    """

    sender: str
    name: str
    subject: str
    message_id: str
    references: tuple[str, ...]
    text: str
    attachments: tuple[Attachment, ...]


def read_letter(raw: bytes, proof: str) -> Letter | Literal["unproven", "automatic"]:
    """Read a mail as the message of a person, or say why it is none.

    Args:
        raw: its bytes, or the first of them.
        proof: as for ``read_mail``; "" proves nobody.
    """
    try:
        found = _parsed(raw)
        name, sender = _author(found)
        if not (proof and sender and _proven(found, proof.lower())):
            return "unproven"
        if _automatic(found):
            return "automatic"
        ids = {one: MESSAGE_ID.findall(str(found.get(one, ""))[:20_000]) for one in _THREADED}
        known = tuple(dict.fromkeys([*ids["References"], *ids["In-Reply-To"]]))
        subject, own = _header(found, "Subject"), ids["Message-ID"]
        return Letter(sender, name, subject, own[0] if own else "", known, *_contents(found))
    except _FAULTS:
        return "unproven"


def attachment(raw: bytes, number: int) -> bytes | None:
    """The bytes of an attachment; None where there is none of this number."""
    try:
        part = next(islice(_leaves(_parsed(raw)), number, _MOST_PARTS), None)
        payload = part.get_payload(decode=True) if part is not None else None
        inner = part.get_payload() if part is not None and part.get_content_maintype() == "message" else None
        if isinstance(inner, list) and inner and isinstance(inner[0], Message):
            payload = inner[0].as_bytes()  # a mail in a mail
    except _FAULTS:
        return None
    return payload if isinstance(payload, bytes) else None


def read_mail(raw: bytes, proof: str) -> Mail:
    """Read a mail, whatever it is.

    Args:
        raw: its bytes, or the first of them.
        proof: the name of the server whose Authentication-Results are believed; "" for none.
    """
    digest = hashlib.sha256(raw).hexdigest()[:16]
    try:
        found = _parsed(raw)
        lines = [f"{name}: {_header(found, name)}" for name in _SHOWN if found.get(name) is not None]
        said, named = _parts(found)
        lines += [f"Attachment, not opened: {name}" for name in named]
        proven = _proven(found, proof.lower()) if proof else ""
        return Mail(f"{_header(found, 'Subject')[:100]} ({digest})", "\n".join([*lines, "", said]), proven)
    except _FAULTS:  # nothing of it is believed
        plain = raw[:MOST_TEXT].decode("utf-8", "replace")
        return Mail(f"unreadable ({digest})", f"[its parts could not be separated]\n\n{plain}", "")


def _parsed(raw: bytes) -> Message:
    """Raises one of ``_FAULTS``."""
    parts, lines = raw.count(b"\n--"), raw.count(b"\n")
    depth = max(10, min(parts, raw.lower().count(b"boundary")))
    head = len(re.split(rb"\r?\n\r?\n", raw, maxsplit=1)[0])
    if head > MOST_HEAD_BYTES or parts > _MOST_LINES or depth * lines > _MOST_STEPS:
        raise ValueError("it would take long to read")
    return BytesParser(policy=compat32).parsebytes(raw)


def _header(found: Message, name: str) -> str:
    value = str(found.get(name, ""))[: 4 * _MOST_HEADER]
    pieces = (
        piece if isinstance(piece, str) else _decoded(piece, charset or "us-ascii")
        for piece, charset in decode_header(value)
    )
    return " ".join("".join(pieces).split())[:_MOST_HEADER]


def _decoded(data: bytes, charset: str) -> str:
    known = charset.lower() if _CHARSETS.fullmatch(charset.lower()) else "utf-8"
    return data.decode(known, "replace")


def _parts(found: Message) -> tuple[str, list[str]]:
    """The text, plain where there is any, and what else there is by name."""
    plain, html, files = _sorted(found)
    return (plain if plain.strip() else html), [f"{one.name} ({one.media_type})" for one in files]


def _contents(found: Message) -> tuple[str, tuple[Attachment, ...]]:
    """The text as people see it, and the attachments."""
    plain, html, files = _sorted(found)
    text = plain if plain.strip() else _seen(html)
    return text.replace("\r\n", "\n").replace("\r", "\n").strip(), tuple(files[:20])


def _sorted(found: Message) -> tuple[str, str, list[Attachment]]:
    """The plain text, the HTML, and the rest."""
    plain, html, files = "", "", list[Attachment]()
    for number, part in enumerate(islice(_leaves(found), _MOST_PARTS)):
        kind, name = part.get_content_type(), part.get_filename()
        if name is None and kind in ("text/plain", "text/html") and part.get_content_disposition() != "attachment":
            payload = part.get_payload(decode=True)
            text = _decoded(payload, str(part.get_content_charset() or "")) if isinstance(payload, bytes) else ""
            plain, html = (f"{plain}{text}", html) if kind == "text/plain" else (plain, f"{html}{text}")
        else:
            held = part.get_payload()
            size = len(held) if isinstance(held, str) else 0
            encoded = str(part.get("Content-Transfer-Encoding", "")).strip().lower() == "base64"
            title = " ".join(str(name or "unnamed").split())[:120]
            files.append(Attachment(number, title, kind[:80], size * 3 // 4 if encoded else size))
    return plain[:MOST_TEXT], html[:MOST_TEXT], files


def _leaves(found: Message) -> Iterator[Message]:
    """What is no container, without going into mails in mails."""
    waiting = [found]
    while waiting:
        part = waiting.pop()
        if part is not found and sum(len(name) + len(str(value)) for name, value in part.items()) > _MOST_PART_HEAD:
            raise ValueError("a part's headers would take long to read")
        inner = part.get_payload() if part.get_content_maintype() == "multipart" else None
        if isinstance(inner, list):
            waiting += [one for one in reversed(inner) if isinstance(one, Message)]
        else:
            yield part


def _proven(found: Message, proof: str) -> str:
    """The domain of From, where the server says that it signed this mail, or that its policy passed."""
    domain, results = _author(found)[1].rpartition("@")[2], list[list[str]]()
    for value in found.get_all("Authentication-Results", []):
        parts = _plain(str(value)).split(";")
        if parts[0].split()[:1] == [proof]:
            results.append([part.strip() for part in parts[1:]])
    # More than one with the server's name: it does not remove forged ones, so none is believed.
    if len(results) != 1 or not domain:
        return ""
    wanted = {"dmarc=pass": f"header.from={domain}", "dkim=pass": f"header.d={domain}"}
    for words in (result.split() for result in results[0]):
        if words and words[0] in wanted and wanted[words[0]] in words[1:]:
            return domain
    return ""


def _author(found: Message) -> tuple[str, str]:
    """The name and the address of From, in lower case; "" where it is not one address by every reading of it."""
    froms = found.get_all("From", [])
    value = " ".join(str(froms[0])[:2_000].split()) if len(froms) == 1 else ""
    read = getaddresses([value])
    one = _AUTHOR.fullmatch(_QUOTED.sub("_", value.lower()))
    if one is None or len(read) != 1 or read[0][1].lower() != one["address"]:
        return "", ""
    return _header(found, "From").rpartition("<")[0].strip(' "')[:200], one["address"]


_THREADED = ("Message-ID", "References", "In-Reply-To")


def _automatic(found: Message) -> bool:
    """Whether a program sent it, by the headers that are for this: an answer could begin a loop."""

    def said(name: str) -> str:
        return re.split(r"[\s;(]", str(found.get(name, "")).strip().lower(), maxsplit=1)[0]

    return (
        said("Auto-Submitted") not in ("", "no")
        or said("Precedence") in ("bulk", "list", "junk", "auto_reply")
        or found.get("List-Id") is not None
        or said("Return-Path") == "<>"
        or found.get_content_type() == "multipart/report"
    )


_TAG = re.compile(r"<(?P<end>/?)(?P<name>[a-z][a-z0-9]{0,20})\b[^<>]*>|<[!?/][^<>]*>|(?P<text>[^<]+|<)", re.IGNORECASE)
_HIDDEN = frozenset(("head", "script", "style", "template", "title"))
_BLOCKS = frozenset(
    ("br", "p", "div", "li", "tr", "h1", "h2", "h3", "h4", "blockquote", "pre", "table", "ul", "ol", "hr")
)


def _seen(page: str) -> str:
    """The text of a page, without what is never shown; in linear time, which the standard library's parser is not."""
    first, *rest = page.split("<!--")
    pieces, hidden = list[str](), ""
    for token in _TAG.finditer(first + "".join(piece.partition("-->")[2] for piece in rest)):
        name, ends = (token["name"] or "").lower(), bool(token["end"])
        if hidden:
            hidden = "" if (ends and name == hidden) or name == "body" else hidden
        elif name in _HIDDEN:
            hidden = "" if ends else name
        elif name in _BLOCKS:
            pieces.append("\n> " if name == "blockquote" and not ends else "\n")
        elif text := token["text"]:
            pieces.append(re.sub(r"\s+", " ", text))
    lines = (line.strip() for line in unescape("".join(pieces)).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _plain(value: str) -> str:
    """Without comments and quoted words, in which senders could write; "" where some are left."""
    text = _QUOTED.sub("_", value[:4000].lower())
    for _ in range(10):
        text = _COMMENT.sub(" ", text)
    return "" if set('()"\\') & set(text) else text
