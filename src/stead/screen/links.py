"""Every address that a text carries: URLs, mail addresses, account numbers (IBAN).

Layer: screen. Knows nothing of policy: who may send which address is the guardian's question. A reader's client decides
what it makes clickable, and clients differ, so this looks at the text in each spelling that one of them understands:
with HTML entities and CSS or Markdown escapes resolved, without characters that are not seen, with look-alikes of ASCII
as ASCII. What it finds is spelled one way, so that two texts can be compared.

Left out, because ordinary prose about code is full of them: a bare name without a path whose last label is also a usual
file ending (``notes.md``, ``main.rs``), unless ``www.`` stands before it; and names that no client links, such as
``example[.]com``.

Sources: WHATWG URL Standard (schemes, slashes, dots, ports), CommonMark 0.31 (link destinations, autolinks), RFC 3986
(escapes), RFC 5321 (lengths), ISO 13616 (IBAN).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote, unquote

from stead.screen.address_tables import HOST_ENDINGS, IBAN_LENGTHS
from stead.screen.engine import compiled, decoded, encoded
from stead.screen.plain import entities, plain

_TAIL = r"[^\x00-\x20<>\"`]"
_NAME = r"(?:[a-z0-9\x80-\xff_][a-z0-9_\x80-\xff-]{0,62}\.)+"
_URL = compiled(rf"(?i)[a-z][a-z0-9+.-]{{0,31}}:(?://|\\\\|/\\|\\/){_TAIL}+")
_WEB = compiled(rf"(?i)(?:https?|wss?|ftps?|file):[/\\]{{0,8}}[a-z0-9\x80-\xff\[%_]{_TAIL}*")
_LOOSE = compiled(r"(?i)(?:h[\t\r\n]{0,2}t[\t\r\n]{0,2}t[\t\r\n]{0,2}p[\t\r\n]{0,2}s?)[\t\r\n]{0,2}:[^\x20<>\"`)]+")
_SCHEMES = (
    "data|javascript|vbscript|blob|tel|sms|smsto|mms|mailto|callto|facetime(?:-audio)?|sips?|xmpp|skype|geo|magnet"
    "|bitcoin|ethereum|litecoin|monero|lightning|cid|view-source|intent|tg|slack|spotify|zoommtg|ms-[a-z-]{1,20}"
)
_PLAIN_SCHEME = compiled(rf"(?i)(?:{_SCHEMES}):[^\x00-\x20<>\"`:=(){{}}]{_TAIL}*")
_NO_SCHEME = compiled(rf"(?i)(?:^|[^a-z0-9:/\\\x80-\xff])([/\\]{{2}}{_NAME}[a-z\x80-\xff]{_TAIL}*)")
_AUTOLINK = compiled(r"(?i)<([a-z][a-z0-9+.-]{1,31}:[^\x00-\x20<>]+)>")
_ADDRESS = r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}"
_BARE = compiled(
    rf"(?i)(?:^|[^a-z0-9/@.\\\x80-\xff-])((?:{_NAME}[a-z\x80-\xff][a-z0-9\x80-\xff-]{{1,62}}|{_ADDRESS})"
    rf"(?:\.?:[0-9]{{1,5}})?\.?(?:[/?#]{_TAIL}*)?)"
)
_MAIL = compiled(rf"(?i)[a-z0-9!#$%&'*+/=?^_{{|}}~.\x80-\xff-]{{1,64}}@{_NAME}[a-z\x80-\xff][a-z0-9\x80-\xff-]{{1,62}}")
_IBAN = compiled(r"\b[A-Z]{2}[0-9]{2}(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){3,7}(?: [A-Z0-9]{1,3})?)\b")
_IBAN_START = compiled(r"(?i)\b[a-z]{2}[ .-]?[0-9]{2}")
_TRAILING = ".,;:!?'*_~|]}\\"
_DEFAULT_PORTS = {"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21"}


def links(text: str) -> tuple[str, ...]:
    """Every URL, mail address and IBAN in the text, each once, spelled one way, in the order of finding.

    URLs come as ``scheme://host[:port]/path``, with ``https`` where none is written and hosts in ASCII (punycode); mail
    addresses in lower case; IBANs in capitals without spaces; other clickable things (``tel:``, ``data:``) from their
    scheme on. Where readers disagree about where a URL ends, both readings are listed.

    Args:
        text: anything; neither its size nor its content makes this take more than linear time.
    """
    found: dict[str, None] = {}
    for view in _views(text):
        content = encoded(view)
        for link in (*_urls(content), *_bare(content), *_mail(content), *_accounts(content)):
            found[link] = None
    return tuple(found)


def _views(text: str) -> Iterator[str]:
    """The text as the different clients read it."""
    first = plain(text)
    views = [first, entities(first)]
    views += [_unescaped(view) for view in views if "\\" in view]
    yield from dict.fromkeys(plain(view) for view in views)


_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([0-9a-fA-F]{1,6})[ \t\n]?|([^\w\s]))")


def _unescaped(text: str) -> str:
    """Escapes of JSON and scripts, of CSS and of Markdown resolved."""

    def one(found: re.Match[str]) -> str:
        point = int(found[1] or found[2] or found[3] or "0", 16)
        return found[4] or (chr(point) if point < 0x110000 else "")

    return _ESCAPE.sub(one, text)


def _urls(content: bytes) -> Iterator[str]:
    for pattern in (_URL, _WEB):
        for match in pattern.finditer(content):
            closed = content[max(0, match.start() - 2) : match.start()] == b"]("
            for url in _ends(_text(match.group()), closed=closed):
                yield _spelled(url)
    for match in _LOOSE.finditer(content):
        url = re.sub(r"[\t\r\n]", "", _text(match.group()))
        if (raw := match.group()) and any(mark in raw.rstrip() for mark in (b"\t", b"\r", b"\n")):
            yield _spelled(url.rstrip(_TRAILING))
    for match in _NO_SCHEME.finditer(content):
        for url in _ends(_text(match.group(1)), closed=False):
            yield _spelled(f"https:{url}")
    for match in _PLAIN_SCHEME.finditer(content):
        before = content[match.start() - 1 : match.start()]
        if not (before.isalnum() or before in (b"-", b"_", b".")) and _is_meant(_text(match.group())):
            yield from _ends(_text(match.group()), closed=False)
    for match in _AUTOLINK.finditer(content):
        url = _text(match.group(1))
        yield _spelled(url) if "//" in url else url


def _is_meant(url: str) -> bool:
    """Whether a scheme without slashes is one here, and not a word with a colon."""
    scheme, _, rest = url.partition(":")
    match scheme.lower():
        case "data":
            return re.match(r"[\w.+-]{0,40}/?[\w.+-]{0,80}[;,]", rest) is not None
        case "tel" | "sms" | "smsto" | "mms" | "callto":
            return re.match(r"[+\d(]", rest) is not None
        case "mailto":
            return "?" in rest
        case _:
            return True


def _ends(url: str, *, closed: bool) -> Iterator[str]:
    """Where the URL may end: before a bracket that it did not open, and at its last character that is no punctuation.

    Args:
        url: up to the next white space or quote.
        closed: it is a Markdown link's destination, so that the bracket ends it for everyone.
    """
    if "|" in url:  # a chat client's <url|shown>
        yield url.partition("|")[0].rstrip(_TRAILING)
    open_brackets = 0
    for place, character in enumerate(url):
        open_brackets += (character == "(") - (character == ")")
        if open_brackets < 0:
            yield url[:place].rstrip(_TRAILING)
            if not closed:
                yield url.rstrip(_TRAILING + ")")
            return
    yield url.rstrip(_TRAILING)


def _bare(content: bytes) -> Iterator[str]:
    for raw in dict.fromkeys(match.group(1) for match in _BARE.finditer(content)):
        for url in _ends(_text(raw).lstrip("_"), closed=False):
            host, _, path = url.partition("/")
            name = re.split(r"[:?#]", host, maxsplit=1)[0].rstrip(".").lower()
            last = name.rpartition(".")[2]
            known = last in HOST_ENDINGS or last.startswith("xn--") or not last.isascii()
            numeric = last.isdigit() and (path or host != name)
            if known or numeric or name.startswith("www.") or (path and not last.isdigit()):
                yield _spelled(f"https://{url}")


def _mail(content: bytes) -> Iterator[str]:
    for raw in dict.fromkeys(match.group() for match in _MAIL.finditer(content)):
        address = _text(raw)
        local, _, host = address.rpartition("@")
        if local := local.lstrip("./'|=&?"):
            yield f"{local.lower()}@{_host(host)}"


def _accounts(content: bytes) -> Iterator[str]:
    """What has an IBAN's shape in capitals, and what has its check digits however it is written."""
    for match in _IBAN.finditer(content):
        yield _text(match.group()).replace(" ", "")
    for match in _IBAN_START.finditer(content):
        country = _text(content[match.start() : match.start() + 2]).upper()
        if length := IBAN_LENGTHS.get(country):
            near = content[match.start() : match.start() + 3 * length].upper()
            digits = _text(near.translate(None, b" \t\r\n._/-"))[:length]
            if len(digits) == length and digits.isascii() and digits.isalnum() and _is_account(digits):
                yield digits


_LETTER_VALUES = {ord("A") + value: str(10 + value) for value in range(26)}


def _is_account(digits: str) -> bool:
    """Whether the check digits fit (ISO 7064, mod 97-10)."""
    return int((digits[4:] + digits[:4]).translate(_LETTER_VALUES)) % 97 == 1


def _text(content: bytes | None) -> str:
    return decoded(content or b"")


_SPLIT = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):[/\\]*([^/\\?#]*)(.*)", re.DOTALL)


def _spelled(url: str) -> str:
    """One spelling of a URL: ASCII host, no default port, ``/`` for an empty path, unreserved escapes resolved."""
    parts = _SPLIT.fullmatch(url)
    if parts is None:
        return url
    scheme, authority, rest = parts[1].lower(), parts[2], parts[3].replace("\\", "/")
    user, at, host = authority.rpartition("@")
    name, colon, port = host.rpartition(":")
    if not colon or not port.isdigit():
        name, port = host.rstrip(":"), ""
    if port == _DEFAULT_PORTS.get(scheme):
        port = ""
    return f"{scheme}://{user}{at}{_host(name)}{':' if port else ''}{port}{_path(rest or '/')}"


_UNRESERVED = re.compile("%(4[1-9A-Fa-f]|5[0-9Aa]|6[1-9A-Fa-f]|7[0-9Aa]|3[0-9]|2[DdEe]|5[Ff]|7[Ee])")


def _path(rest: str) -> str:
    return quote(_UNRESERVED.sub(_literal, rest), safe="%/:?#[]@!$&'()*+,;=~", errors="replace")


def _literal(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16))


def _host(name: str) -> str:
    """A host name in lower-case ASCII; as written where it cannot be one."""
    name = plain(unquote(name[:1024])).rstrip(".").lower() if len(name) <= 1024 else name
    if name.isascii():
        return name
    try:
        return name.encode("idna").decode("ascii")
    except UnicodeError:
        return name
