"""What leaves for a person or a channel.

Layer: screen. Knows nothing of policy or of channels. A reply may have been written under the influence of a hostile
page: what a client would load or hide by itself becomes plain text, also inside what looks like code, because clients
disagree about where code ends. What belongs inside the house stays there. Who may be sent which address is the
guardian's question; ``links`` lists them for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from stead.domain.policies import Reason
from stead.screen.inbound import Screened
from stead.screen.links import links
from stead.screen.plain import entities, plain

__all__ = ["clean_reply", "links"]

_TAGS = (
    "thinking|thought|reasoning|reflection|scratchpad|system|system[-_]reminder|tool_?calls?|tool_?use|tool_?results?"
)
_TAGS += "|function_?calls?|function_?results?|invoke|antml:[a-z_]{1,30}"
_INTERNAL_TAG = re.compile(rf"<(/?)({_TAGS})(?:\s[^<>]{{0,300}})?(/?)>", re.IGNORECASE)
_INTERNAL_TOKEN = re.compile(r"<\|[a-z_]{2,30}\|>", re.IGNORECASE)
_MARK = re.compile(r"(?m)^[^\S\n]{0,80}(?:<<<data \S{1,200} from [^\n]{0,200}|>>>end \S{1,200})$\n?")

_LOADING_TAG = re.compile(
    r"<(/?)(img|image|picture|source|video|audio|track|iframe|frame|frameset|embed|object|param|applet|link|meta|base|script"
    r"|style|svg|math|form|input|button|portal|bgsound|body|html|head|template|noscript)\b([^<>]{0,4000})>",
    re.IGNORECASE,
)
_LOADING_STYLE = re.compile(
    r"(?i)\s(?:style|background|on[a-z]{2,20})\s{0,8}=\s{0,8}(?:\"[^\"<>]{0,4000}\"|'[^'<>]{0,4000}'|[^\s<>]{1,400})"
)
_TAG_WITH_ATTRIBUTES = re.compile(r"<[a-z][a-z0-9]{0,20}\s[^<>]{1,4000}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"(?i)\b(src|srcset|href|data|poster|action|alt)\s{0,8}=\s{0,8}(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))"
)

_DESTINATION = r"(?:<([^<>\n]{0,2000})>|([^\s()<>]{0,2000}(?:\([^\s()]{0,500}\)[^\s()]{0,500})?))"
_TITLE = r"(?:\s{1,8}(?:\"[^\"\n]{0,400}\"|'[^'\n]{0,400}'|\([^()\n]{0,400}\)))?"
_IMAGE = re.compile(rf"!\[([^\[\]]{{0,400}})\](?:\(\s{{0,8}}{_DESTINATION}{_TITLE}\s{{0,8}}\)|\[([^\[\]]{{0,200}})\])?")
_LINK = re.compile(rf"(?<!!)\[([^\[\]]{{1,400}})\]\(\s{{0,8}}{_DESTINATION}{_TITLE}\s{{0,8}}\)")
_LINK_BY_NAME = re.compile(r"(?<!!)\[([^\[\]]{1,400})\]\[([^\[\]]{0,200})\]")
_DEFINITION = re.compile(r"(?m)^ {0,3}\[([^\[\]\n]{1,200})\]:[^\S\n]{0,8}<?([^\s<>]{1,2000})>?[^\n]{0,400}$")
_ANCHOR = re.compile(r"<a\s([^<>]{0,4000})>([^<>]{0,400})</a\s{0,8}>", re.IGNORECASE)
_HOST_LIKE = re.compile(
    r"(?i)(?:[a-z0-9\x80-\U0010ffff](?:[a-z0-9\x80-\U0010ffff-]{0,62})\.){1,10}[a-z\x80-\U0010ffff]{2,24}"
)


_Image = Callable[[str, str, str], str]
"""Words, URL and the whole markup of an image to what stands in its place."""


def clean_reply(text: str, *, keep_hosts: frozenset[str] = frozenset()) -> Screened:
    """A reply as a person or a channel may get it.

    Internal blocks and marks go; images and whatever else a client loads by itself become a few words with their host;
    a link whose text claims another host than it leads to says where it leads.

    Args:
        text: Markdown, HTML or plain text, by a model.
        keep_hosts: hosts in lower case whose images may load, such as the house's own.
    """
    done: dict[str, str] = {}
    text = _without_internal(text, done)
    named = {found[1].strip().lower(): found[2] for found in _DEFINITION.finditer(text)}

    def image(words: str, url: str, whole: str) -> str:
        host = _host(url)
        if host in keep_hosts and host:
            return whole
        done["image"] = "images were left out, because loading one tells its host that and when this was read"
        return f"[image: {_words(words) or 'no description'}{f' ({host})' if host else ''}]"

    def link(words: str, url: str, whole: str) -> str:
        if not (claimed := _claims(words)) or claimed == _host(url):
            return whole
        done["link"] = "a link claimed to lead elsewhere than it does; its real host is shown"
        return f"{_words(words)} [leads to {_host(url) or 'an unknown place'}] ({_shown(url)})"

    text = _IMAGE.sub(lambda m: image(m[1], m[2] or m[3] or named.get((m[4] or m[1]).strip().lower(), ""), m[0]), text)
    text = _LINK.sub(lambda m: link(m[1], m[2] or m[3] or "", m[0]), text)
    text = _LINK_BY_NAME.sub(lambda m: link(m[1], named.get((m[2] or m[1]).strip().lower(), ""), m[0]), text)
    text = _ANCHOR.sub(lambda m: link(m[2], _attributes(m[1]).get("href", ""), m[0]), text)
    text = _LOADING_TAG.sub(lambda m: _inert(m, image, done), text)
    text = _TAG_WITH_ATTRIBUTES.sub(lambda m: _without_style(m, done), text)
    return Screened(text, tuple(Reason(f"reply-{rule}", f"In this reply {said}.") for rule, said in done.items()))


def _without_internal(text: str, done: dict[str, str]) -> str:
    """Without blocks between internal tags, outermost ones whole; an unclosed block reaches to the end of its line."""
    pieces: list[str] = []
    at = depth = 0
    closing = [match.end() for match in _INTERNAL_TAG.finditer(text) if match[1]]
    for match in _INTERNAL_TAG.finditer(text):
        opens = not match[1] and not match[3]
        if depth == 0:
            pieces.append(text[at : match.start()])
        at = match.end()
        if opens and closing and closing[-1] > at:
            depth += 1
        elif match[1]:
            depth = max(0, depth - 1)
    if at:
        text = "".join([*pieces, text[at:]])
    clean = _MARK.sub("", _INTERNAL_TOKEN.sub("", text))
    if at or clean != text:
        done["internal"] = "parts that are meant for the program alone were left out"
    return clean


def _inert(tag: re.Match[str], image: _Image, done: dict[str, str]) -> str:
    """A tag that loads something as words; one that loads nothing here as nothing."""
    fields = _attributes(tag[3])
    url = (
        fields.get("src")
        or fields.get("srcset")
        or fields.get("data")
        or fields.get("poster")
        or fields.get("href")
        or ""
    )
    if tag[2].lower() in ("img", "image", "input"):
        return image(fields.get("alt", ""), url.split()[0] if url.split() else "", tag[0]) if url else ""
    done["markup"] = "markup that a client would load or run by itself was left out"
    return f"[{tag[2].lower()} ({_host(url)})]" if _host(url) and not tag[1] else ""


def _without_style(tag: re.Match[str], done: dict[str, str]) -> str:
    clean = _LOADING_STYLE.sub("", tag[0])
    if clean != tag[0]:
        done["markup"] = "markup that a client would load or run by itself was left out"
    return clean


def _attributes(text: str) -> dict[str, str]:
    found = ((m[1].lower(), m[2] or m[3] or m[4] or "") for m in _ATTRIBUTE.finditer(text))
    return {name: entities(value) for name, value in found}


def _host(url: str) -> str:
    """The host that a URL leads to, in ASCII; empty for one that leads nowhere else."""
    for link in links(url.strip()[:4000]) if url else ():
        if "://" in link:
            return link.split("://", 1)[1].split("/", 1)[0].rpartition("@")[2]
    return ""


def _claims(words: str) -> str:
    """The host that a link's text shows, if it shows one."""
    seen = plain(entities(words))
    if shown := _HOST_LIKE.search(seen):
        return _host(seen[shown.start() :].split()[0] if "://" not in seen else seen)
    return ""


def _words(text: str) -> str:
    return " ".join(plain(entities(text)).split())[:200]


def _shown(url: str) -> str:
    return plain(url).strip()[:2000]
