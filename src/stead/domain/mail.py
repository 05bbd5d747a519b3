"""A mail as it came from strangers: what a run is handed of it, and which domain it is proven to come from.

Layer: domain. Pure. The standard library's parser reads it in its plain form (``compat32``), which keeps headers as
they are and has no grammar to be led astray by; what is decoded is bounded before and after. Attachments are named,
never opened.

Sources: RFC 5322, RFC 2047, RFC 8601 (Authentication-Results; §5 has the mailbox's server remove forged ones).
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
from itertools import islice
from typing import NamedTuple

MOST_TEXT = 150_000
"""Characters of a mail's text."""
_MOST_HEADER, _MOST_PARTS = 500, 100
_MOST_HEAD_BYTES, _MOST_LINES = 64_000, 1_000
"""Of all headers; that could begin a part. Past them the parser takes seconds."""
_SHOWN = ("From", "To", "Cc", "Date", "Subject", "Reply-To")
_CHARSETS = re.compile(
    r"utf-?8|us-ascii|ascii|iso-8859-\d{1,2}|(windows-|cp)125\d|koi8-[ru]|gb(2312|k|18030)|big5|shift_jis|euc-(jp|kr)"
    r"|iso-2022-jp"
)
"""Those that take linear time."""
_COMMENT = re.compile(r"\([^()\\]*\)")
_QUOTED = re.compile(r'"[^"\\]*"')
_DOMAIN = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+")


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


def read_mail(raw: bytes, proof: str) -> Mail:
    """Read a mail, whatever it is.

    Args:
        raw: its bytes, or the first of them.
        proof: the name of the server whose Authentication-Results are believed; "" for none.
    """
    digest = hashlib.sha256(raw).hexdigest()[:16]
    try:
        if len(re.split(rb"\r?\n\r?\n", raw, maxsplit=1)[0]) > _MOST_HEAD_BYTES or raw.count(b"\n--") > _MOST_LINES:
            raise ValueError("it would take long to read")
        found = BytesParser(policy=compat32).parsebytes(raw)
        lines = [f"{name}: {_header(found, name)}" for name in _SHOWN if found.get(name) is not None]
        said, named = _parts(found)
        lines += [f"Attachment, not opened: {name}" for name in named]
        proven = _proven(found, proof.lower()) if proof else ""
        return Mail(f"{_header(found, 'Subject')[:100]} ({digest})", "\n".join([*lines, "", said]), proven)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, AssertionError):
        # What the parser is led into by hostile mail; nothing of it is believed.
        plain = raw[:MOST_TEXT].decode("utf-8", "replace")
        return Mail(f"unreadable ({digest})", f"[its parts could not be separated]\n\n{plain}", "")


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
    plain, html, named = "", "", list[str]()
    for part in islice(_leaves(found), _MOST_PARTS):
        kind, name = part.get_content_type(), part.get_filename()
        if name is None and kind in ("text/plain", "text/html") and part.get_content_disposition() != "attachment":
            payload = part.get_payload(decode=True)
            text = _decoded(payload, str(part.get_content_charset() or "")) if isinstance(payload, bytes) else ""
            plain, html = (f"{plain}{text}", html) if kind == "text/plain" else (plain, f"{html}{text}")
        else:
            named.append(f"{' '.join(str(name or 'unnamed').split())[:120]} ({kind[:80]})")
    return (plain if plain.strip() else html)[:MOST_TEXT], named


def _leaves(found: Message) -> Iterator[Message]:
    """What is no container, without going into mails in mails."""
    waiting = [found]
    while waiting:
        part = waiting.pop()
        inner = part.get_payload() if part.get_content_maintype() == "multipart" else None
        if isinstance(inner, list):
            waiting += [one for one in reversed(inner) if isinstance(one, Message)]
        else:
            yield part


def _proven(found: Message, proof: str) -> str:
    """The domain of From, where the server says that it signed this mail, or that its policy passed."""
    froms, results = found.get_all("From", []), list[list[str]]()
    addresses = getaddresses([str(one) for one in froms]) if len(froms) == 1 else []
    domain = addresses[0][1].rpartition("@")[2].lower() if len(addresses) == 1 else ""
    for value in found.get_all("Authentication-Results", []):
        parts = _plain(str(value)).split(";")
        if parts[0].split()[:1] == [proof]:
            results.append([part.strip() for part in parts[1:]])
    # More than one with the server's name: it does not remove forged ones, so none is believed.
    if len(results) != 1 or not _DOMAIN.fullmatch(domain):
        return ""
    wanted = {"dmarc=pass": f"header.from={domain}", "dkim=pass": f"header.d={domain}"}
    for words in (result.split() for result in results[0]):
        if words and words[0] in wanted and wanted[words[0]] in words[1:]:
            return domain
    return ""


def _plain(value: str) -> str:
    """Without comments and quoted words, in which senders could write; "" where some are left."""
    text = _QUOTED.sub("_", value[:4000].lower())
    for _ in range(10):
        text = _COMMENT.sub(" ", text)
    return "" if set('()"\\') & set(text) else text
