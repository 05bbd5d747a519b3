"""The browser: a page opened, read, acted on and pictured, in a machine.

Layer: tools. Knows the browser only as the ``Browser`` port. Four tools, because four declarations are honest and one
is not: opening sends a request, reading what is open sends none, a click or a filled field acts on the outside world,
and a picture is a file of the workspace. All of them name the page, so that an answer is for one page, and the
browser does nothing when another page is open than the one that was named.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from stead.domain.attachments import Attachments
from stead.domain.errors import InvalidRequest, ToolFault
from stead.domain.hosts import USUAL_PORTS, parse_host
from stead.domain.messages import Attachment
from stead.domain.permits import Permit
from stead.domain.policies import Confidentiality, Integrity, Reason
from stead.domain.ports import Browser, PageShown
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome
from stead.tools.landing import landing_notes
from stead.tools.output import OUTPUT_CAP, clip
from stead.tools.tool import StructTool

_ROOM = OUTPUT_CAP - 4_000
"""Characters of a page in one answer; the rest is for what is said about it."""

Url = Annotated[str, msgspec.Meta(min_length=8, max_length=4096)]
Hosts = Annotated[list[str], msgspec.Meta(max_length=20)]


class OpenArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A page, and the other hosts that it may load from."""

    url: Url
    hosts: Hosts = []

    def __post_init__(self) -> None:
        _require_hosts(self.url, self.hosts)


class ReadArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The page that is open, and the character of its text to go on from."""

    url: Url
    start: Annotated[int, msgspec.Meta(ge=0)] = 0


class ActArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The page that is open, an element's number and name there, and what to fill in; without text it is clicked."""

    url: Url
    element: Annotated[int, msgspec.Meta(ge=1)]
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    text: Annotated[str, msgspec.Meta(max_length=20_000)] | None = None
    submit: bool = False
    hosts: Hosts = []

    def __post_init__(self) -> None:
        _require_hosts(self.url, self.hosts)


class ShotArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The page that is open, and a file for its picture."""

    url: Url
    path: Annotated[str, msgspec.Meta(max_length=4096, pattern=r"\.png\Z")]


class OpenTool(StructTool[OpenArguments]):
    """``browser_open``: go to a page."""

    def __init__(self, browser: Browser) -> None:
        super().__init__(
            "browser_open",
            "Open a page in the browser. hosts: others it may load from.",
            OpenArguments,
            Declaration(
                effect=ToolEffect.FETCH,
                authority_args=("url",),
                url_args=("url",),
                host_args=("hosts",),
                output_trust=Integrity.UNTRUSTED,
                sensitivity=Confidentiality.PRIVATE,  # the browser may be signed in
            ),
            deferred=True,
        )
        self._browser = browser

    async def work(self, permit: Permit, arguments: OpenArguments, context: ToolContext) -> ToolOutcome:
        """Open it, and give its text with numbered elements.

        Raises:
            MachineError: as ``Browser.open``.
        """
        granted = _granted(arguments.url, arguments.hosts)
        return _outcome(await self._browser.open(permit, arguments.url, granted), granted)


class ReadPageTool(StructTool[ReadArguments]):
    """``browser_read``: what the open page shows now."""

    def __init__(self, browser: Browser) -> None:
        super().__init__(
            "browser_read",
            "Read the open page again, or on from start.",
            ReadArguments,
            Declaration(
                effect=ToolEffect.READ,
                authority_args=("url",),
                url_args=("url",),
                output_trust=Integrity.UNTRUSTED,
                sensitivity=Confidentiality.PRIVATE,
                idempotent=True,
            ),
            deferred=True,
        )
        self._browser = browser

    async def work(self, permit: Permit, arguments: ReadArguments, context: ToolContext) -> ToolOutcome:
        """Read it.

        Raises:
            MachineError: as ``Browser.read``.
        """
        granted = _granted(arguments.url, ())
        return _outcome(await self._browser.read(permit, arguments.url), granted, arguments.start)


class ActTool(StructTool[ActArguments]):
    """``browser_act``: click, or fill in."""

    def __init__(self, browser: Browser) -> None:
        super().__init__(
            "browser_act",
            "Click an element of the open page; with text, fill it (submit: and press Enter).",
            ActArguments,
            Declaration(
                effect=ToolEffect.SEND,
                authority_args=("url", "name"),
                url_args=("url",),
                content_args=("text",),
                host_args=("hosts",),
                output_trust=Integrity.UNTRUSTED,
                sensitivity=Confidentiality.PRIVATE,
                unplanned=True,  # what a button of that name does, the page decides
            ),
            deferred=True,
        )
        self._browser = browser

    async def work(self, permit: Permit, arguments: ActArguments, context: ToolContext) -> ToolOutcome:
        """Do it, and give the page as it is then.

        Raises:
            MachineError: as ``Browser.act``.
        """
        granted = _granted(arguments.url, arguments.hosts)
        element = (arguments.element, arguments.name)
        shown = await self._browser.act(
            permit, arguments.url, element, granted, text=arguments.text, submit=arguments.submit
        )
        return _outcome(shown, granted)


class ShotTool(StructTool[ShotArguments]):
    """``browser_shot``: a picture for the person and the model."""

    def __init__(self, browser: Browser, attachments: Attachments) -> None:
        super().__init__(
            "browser_shot",
            "See the open page, and save its picture as a .png file for the person.",
            ShotArguments,
            Declaration(ToolEffect.WRITE, path_args=("path",), authority_args=("path", "url")),
            deferred=True,
        )
        self._browser = browser
        self._attachments = attachments

    async def work(self, permit: Permit, arguments: ShotArguments, context: ToolContext) -> ToolOutcome:
        """Take it.

        Raises:
            MachineError: as ``Browser.shot``.
        """
        picture, landing = await self._browser.shot(permit, arguments.url, arguments.path)
        host = urlsplit(arguments.url).hostname or ""
        said = f"saved {arguments.path!r}, {len(picture)} bytes; tell the person where it is"
        shown: tuple[Attachment, ...] = ()
        try:
            shown = (await self._attachments.take(arguments.path, picture),)
        except (InvalidRequest, ToolFault) as error:
            said = f"{said}\n[it cannot be shown here: {error}]"
        text = "\n".join((said, *landing_notes(landing)))
        return ToolOutcome("ok", text, len(picture), reached=(host,), landing=landing, attachments=shown)


def _require_hosts(url: str, hosts: Sequence[str]) -> None:
    """Check what a call names.

    Raises:
        ValueError: it cannot be reached; says what can.
    """
    try:
        _granted(url, hosts)
    except InvalidRequest as error:
        raise ValueError(str(error)) from error


def _granted(url: str, hosts: Sequence[str]) -> list[str]:
    """The hosts that a call may reach: its page's, and those that it names."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise InvalidRequest(f"{url[:200]!r} is no URL: {error}") from error
    own = host if port is None or port in USUAL_PORTS else f"{host}:{port}"
    for one in (own, *hosts):
        parse_host(one, wildcard=False)
    return [own, *hosts]


def _outcome(shown: PageShown, granted: Sequence[str], start: int = 0) -> ToolOutcome:
    """What a model reads of a page, as far as there is room, and what the browser has to say about it."""
    now = urlsplit(shown.url).hostname or ""
    if all(parse_host(host).name != now for host in granted):
        # Its words would count as the word of the host that was asked for.
        text = f"The browser is at {clip(shown.url, 500)!r} now, another host; open that to read it."
        return ToolOutcome("error", "\n".join((text, *_remarks(shown))), reached=(now,) if now else ())
    part = shown.text[start : start + _ROOM]
    end = start + len(part)
    lines = [f"{shown.title} <{clip(shown.url, 1000)}>", "", part or "(no text)", ""]
    if start or end < len(shown.text):
        more = f"; go on with browser_read, start {end}" if end < len(shown.text) else ""
        lines.append(f"[characters {start}-{end} of {len(shown.text)}{more}]")
    warnings: tuple[Reason, ...] = ()
    if shown.hidden:
        lines.append(f"[{shown.hidden} hidden parts left out]")
        said = f"The page had {shown.hidden} parts that a person would not see; the model was not given them."
        warnings = (Reason("hidden-parts", said),)
    lines += _remarks(shown)
    return ToolOutcome("ok", clip("\n".join(lines).rstrip()), len(shown.text), warnings=warnings, reached=(now,))


def _remarks(shown: PageShown) -> list[str]:
    remarks = [f"[{note}]" for note in shown.notes]
    if shown.refused:
        named = ", ".join(f"{host} ({count})" for host, count in shown.refused)
        remarks.append(
            f"[refused requests to: {named}; if the page needs them, name them in `hosts`, or ask the person to run "
            "`stead egress allow HOST`]"
        )
    return [clip(remark, 1500) for remark in remarks]
