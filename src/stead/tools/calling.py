"""The tools that call an HTTP API: one that only reads, one that may change something.

Layer: tools. Of what comes back nothing is understood here: short JSON is indented, and that is all. Whether a request
is as its server wants it, the server says. Where a call goes is checked like a page's address, and it follows no
redirect: who was asked about one address is not taken to another. A secret's value goes to the host that it is bound
to, into the part of the request that the binding names.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

import msgspec

from stead.domain.errors import FetchFault
from stead.domain.permits import Permit
from stead.domain.policies import Confidentiality, Integrity
from stead.domain.secrets import Filler, RequestHead
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome
from stead.guardian.reach import Target, Unreachable
from stead.net.dialing import Dialer
from stead.net.exchange import Answer, Request, brief, send
from stead.tools.fetching import is_text
from stead.tools.output import OUTPUT_CAP, clip
from stead.tools.tool import StructTool

BODY_LIMIT_BYTES = 2_000_000
TIME_LIMIT_S = 30.0
_SHOWN_FIELDS = ("location", "retry-after", "link")
"""Fields of an answer that a model reads."""
_NAME = re.compile(r"[A-Za-z0-9-]{1,60}")
_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,4000}[\x21-\x7e])?")
_OURS = re.compile(
    r"host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|accept-encoding|user-agent"
    r"|cookie|forwarded|via|(x-forwarded|proxy|sec)-.*|x-http-method.*|x-method-override|x-original-.*|x-rewrite-.*",
    re.IGNORECASE,
)
"""Header names that frame the request, or that some servers take for another host, path or method."""

Query = dict[str, str | int | float | bool | list[str | int | float | bool]]
Headers = Annotated[dict[str, str], msgspec.Meta(max_length=30)]


class ReadArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request that changes nothing."""

    url: str
    method: Literal["GET", "HEAD"] = "GET"
    query: Query = {}
    headers: Headers = {}

    def __post_init__(self) -> None:
        _require_headers(self.headers)


class CallArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request that may change something; ``body`` is JSON."""

    url: str
    method: Literal["POST", "PUT", "PATCH", "DELETE"]
    query: Query = {}
    headers: Headers = {}
    body: Any = None

    def __post_init__(self) -> None:
        _require_headers(self.headers)
        named = {name.lower(): value for name, value in self.headers.items()}
        if not is_json(named.get("content-type", "application/json").partition(";")[0].strip().lower()):
            raise ValueError("a body is sent as JSON; give a content-type of JSON, or none")


class Caller:
    """Sends what is asked for, and reads what comes back.

    Args:
        dialer: how hosts are reached, and which may be.
        timeout_s: for one request.
    """

    def __init__(self, dialer: Dialer, *, timeout_s: float = TIME_LIMIT_S) -> None:
        self._dialer = dialer
        self._timeout_s = timeout_s

    def target(self, call: ReadArguments | CallArguments, query: Mapping[str, object]) -> Target:
        """Where a call goes, its query included.

        Raises:
            FetchFault: it goes to where nothing is sent.
        """
        plain, _, own = call.url.partition("#")[0].partition("?")
        encoded = urlencode({name: _as_text(value) for name, value in query.items()}, doseq=True)
        url = plain + ("?" if own or encoded else "") + "&".join(filter(None, (own, encoded)))
        found = self._dialer.reach.check_url(url)
        if isinstance(found, Unreachable):
            raise FetchFault("{}", found.text)
        return found

    async def send(self, request: Request) -> Came:
        """Send it, and read the answer whole.

        Raises:
            FetchFault: refused, not reached, too slow, broken off, or an answer that is no text.
        """
        try:
            async with asyncio.timeout(self._timeout_s), send(self._dialer, request) as answer:
                return await _read(answer)
        except TimeoutError as error:
            raise FetchFault(
                "{!r} did not answer within {:g} s; what it did is not known", request.target.host, self._timeout_s
            ) from error


@dataclass(frozen=True)
class Came:
    """An answer. ``flaw``: why it is not what it says to be."""

    status: int
    media_type: str
    fields: tuple[tuple[str, str], ...]
    text: str
    size_bytes: int
    flaw: str = ""


async def _carried_out(caller: Caller, call: ReadArguments | CallArguments, context: ToolContext) -> ToolOutcome:
    """Send the request, and tell what came back.

    Raises:
        FetchFault: as ``Caller.send``.
    """
    target = caller.target(call, call.query)
    came = await caller.send(_filled(caller, call, target, context))
    return _outcome(call.method, target, came)


def _filled(caller: Caller, call: ReadArguments | CallArguments, target: Target, context: ToolContext) -> Request:
    """The request with the values of secrets that are bound to where it goes.

    Raises:
        FetchFault: one may not go there; a placeholder of its own would only be refused there.
    """
    head = RequestHead(target.scheme, target.host, call.method, target.path.partition("?")[0])
    filler = Filler(context.release, context.session, head)
    body = getattr(call, "body", None)
    headers = {"Accept": "application/json, text/*;q=0.5", **_named(call.headers)}
    if body is not None:
        headers.setdefault("Content-Type", "application/json")
    filled = {name: filler.fill(value, f"header:{name.lower()}") for name, value in headers.items()}
    query = {name: _filled_part(value, f"query:{name}", filler) for name, value in call.query.items()}
    if isinstance(body, dict):
        body = {name: _filled_part(value, f"body:{name}", filler) for name, value in body.items()}
    content = b"" if body is None else msgspec.json.encode(body)
    filler.leave(content.decode("utf-8", "replace"))
    if left := next(iter(filler.left), ""):
        bind = f"stead secret bind {left} --host {head.host}{' --tls' if head.scheme == 'https' else ''}"
        bind += f" --path {head.path} --in PLACE"
        raise FetchFault(
            "the secret {!r} may not go into {} {}://{}{} where you wrote it, so nothing was sent: it was not given to "
            "this session, is not bound to this host and part of the request, or stands there twice; the person binds "
            "it: {}",
            *(left, call.method, head.scheme, head.host, head.path, bind),
        )
    if unfit := next((name for name, value in filled.items() if not _VALUE.fullmatch(value)), ""):
        raise FetchFault("the secret's value does not fit into the header {!r}; send it in the body", unfit)
    return Request(
        caller.target(call, query),
        call.method,
        tuple(filled.items()),
        content,
    )


class ApiReadTool(StructTool[ReadArguments]):
    """``api_read``: GET or HEAD."""

    def __init__(self, caller: Caller) -> None:
        declared = Declaration(
            effect=ToolEffect.FETCH,
            authority_args=("url", "query", "headers"),
            url_args=("url",),
            output_trust=Integrity.UNTRUSTED,
            sensitivity=Confidentiality.PRIVATE,
            idempotent=True,  # both methods are safe to repeat (RFC 9110, section 9.2.1)
        )
        super().__init__("api_read", "GET from an HTTP API, as JSON or text.", ReadArguments, declared, deferred=True)
        self._caller = caller

    async def work(self, permit: Permit, arguments: ReadArguments, context: ToolContext) -> ToolOutcome:
        """See ``_carried_out``."""
        return await _carried_out(self._caller, arguments, context)


class ApiCallTool(StructTool[CallArguments]):
    """``api_call``: POST, PUT, PATCH or DELETE."""

    def __init__(self, caller: Caller) -> None:
        declared = Declaration(
            effect=ToolEffect.SEND,
            authority_args=("url", "method", "query", "headers", "body"),
            content_args=("body",),
            closed_args=("method",),
            url_args=("url",),
            output_trust=Integrity.UNTRUSTED,
            sensitivity=Confidentiality.PRIVATE,
        )
        super().__init__(
            "api_call", "Change something by an HTTP API with JSON.", CallArguments, declared, deferred=True
        )
        self._caller = caller

    async def work(self, permit: Permit, arguments: CallArguments, context: ToolContext) -> ToolOutcome:
        """See ``_carried_out``."""
        return await _carried_out(self._caller, arguments, context)


async def _read(answer: Answer) -> Came:
    """The answer, its body decoded.

    Raises:
        FetchFault: it is no text, or more than is read.
    """
    url = answer.target.url.partition("?")[0]
    media_type, _ = answer.media_type
    shown = tuple((name, brief(answer.fields[name])) for name in _SHOWN_FIELDS if name in answer.fields)
    body, cut = await answer.body(BODY_LIMIT_BYTES)
    if body and not is_text(media_type):
        kind = brief(media_type) or "of no stated type"
        raise FetchFault("{!r} answered {} with {}; only text is read", url, answer.status, kind)
    text = body.decode("utf-8", "replace")
    if cut:
        flaw = f"it has more than {BODY_LIMIT_BYTES:,} bytes, and was cut"
        return Came(answer.status, media_type, shown, text, len(body), flaw=flaw)
    if is_json(media_type) and 0 < len(body) <= OUTPUT_CAP:  # indented, a long one that is nested could fill the memory
        try:
            text = msgspec.json.format(body, indent=2).decode("utf-8", "replace")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return Came(answer.status, media_type, shown, text, len(body), f"it says to be JSON and is not: {error}")
    return Came(answer.status, media_type, shown, text, len(body))


def is_json(media_type: str) -> bool:
    """Whether a media type (lower case, without parameters) is of JSON."""
    return media_type == "application/json" or (media_type.startswith("application/") and media_type.endswith("+json"))


def _outcome(method: str, target: Target, came: Came) -> ToolOutcome:
    kind = came.media_type if came.size_bytes else "no body"
    lines = [f"{method} {target.url.partition('?')[0]}: {came.status} ({kind}, {came.size_bytes:,} bytes)"]
    lines += [f"{name}: {value}" for name, value in came.fields]
    lines += filter(None, (came.flaw,))
    text = clip("\n".join(lines) + (f"\n\n{came.text}" if came.text else ""))
    return ToolOutcome("ok" if 200 <= came.status < 300 else "error", text, came.size_bytes, reached=(target.host,))


def _filled_part(value: Any, place: str, filler: Filler) -> Any:
    """A field's value, filled if it is text, or a list of texts in a query; what is nested deeper stays as it is."""
    if isinstance(value, list) and place.startswith("query:"):
        return [_filled_part(item, place, filler) for item in value]
    return filler.fill(value, place) if isinstance(value, str) else value


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers by their usual spelling, so that one of ours gives way to one of the call's."""
    return {name.title(): value for name, value in headers.items()}


def _require_headers(headers: Mapping[str, str]) -> None:
    for name, value in headers.items():
        if not _NAME.fullmatch(name) or _OURS.fullmatch(name):
            raise ValueError(f"the header {name[:60]!r} is not yours to set; leave it out")
        if not _VALUE.fullmatch(value):
            raise ValueError(f"the header {name!r} is one line of ASCII, not empty; encode what is not")
    if len({name.lower() for name in headers}) != len(headers):
        raise ValueError("a header stands there twice; give each once")


def _as_text(value: object) -> object:
    """A value of a query as it is written: ``true`` for a truth value, several for a list."""
    if isinstance(value, list):
        return [_as_text(item) for item in value]
    return str(value).lower() if isinstance(value, bool) else value
