"""The tools that call an HTTP API: one that only reads, one that may change something.

Layer: tools. The daemon parses JSON and nothing else of what comes back; a document of the workspace is read by the
machine. Where a call goes is checked like a page's address, and it follows no redirect: who was asked about one address
is not taken to another. A secret's value goes to the host that it is bound to, into the part of the request that the
binding names.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

import msgspec

from stead.domain.errors import FetchFault, ToolFault
from stead.domain.permits import Permit
from stead.domain.policies import Confidentiality, Integrity
from stead.domain.ports import Files
from stead.domain.secrets import Filler, RequestHead
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome
from stead.guardian.reach import Reach, Target, Unreachable
from stead.net.dialing import Resolve, resolve_name
from stead.tools.checking import Pair, misfits
from stead.tools.fetching import is_text
from stead.tools.openapi import Document, Operation, Sent, is_json
from stead.tools.tool import StructTool, clip
from stead.tools.wire import Answer, Request, Wire, brief

BODY_LIMIT_BYTES = 2_000_000
DOCUMENT_LIMIT_CHARS = 2_000_000
TIME_LIMIT_S = 30.0
_ALL_LINES = 200_000
_TOLD = ("location", "retry-after", "link")
"""Fields of an answer that a model is told."""
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
    """A request that changes nothing; ``openapi`` is a file, ``answer_schema`` a JSON Schema."""

    url: str
    method: Literal["GET", "HEAD"] = "GET"
    query: Query = {}
    headers: Headers = {}
    openapi: str = ""
    answer_schema: dict[str, Any] = {}

    def __post_init__(self) -> None:
        _require_headers(self.headers)


class CallArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request that may change something; ``body`` is JSON."""

    url: str
    method: Literal["POST", "PUT", "PATCH", "DELETE"]
    query: Query = {}
    headers: Headers = {}
    body: Any = None
    openapi: str = ""
    body_schema: dict[str, Any] = {}
    answer_schema: dict[str, Any] = {}

    def __post_init__(self) -> None:
        _require_headers(self.headers)
        named = {name.lower(): value for name, value in self.headers.items()}
        if not is_json(named.get("content-type", "application/json").partition(";")[0].strip().lower()):
            raise ValueError("a body is sent as JSON; give a content-type of JSON, or none")


class Caller:
    """Sends what is asked for, and reads what comes back.

    Args:
        files: the documents of workspaces, through their machines.
        reach: which addresses.
        resolve: turns a name into addresses.
        timeout_s: for one request.
    """

    def __init__(
        self, files: Files, reach: Reach, *, resolve: Resolve = resolve_name, timeout_s: float = TIME_LIMIT_S
    ) -> None:
        self._files = files
        self._reach = reach
        self._wire = Wire(reach, resolve=resolve)
        self._timeout_s = timeout_s

    async def document(self, permit: Permit, path: str) -> Document | None:
        """The OpenAPI document that a path of the workspace names; nothing for "".

        Raises:
            MachineError: as ``Files.read``; or it is no such document.
        """
        if not path:
            return None
        lines: list[str] = []
        first = 1
        while True:
            part = await self._files.read(permit, path, first_line=first, lines=_ALL_LINES)
            lines.append(part.text)
            read = part.text.count("\n")
            if not part.truncated:
                return Document("".join(lines), path)
            if sum(map(len, lines)) > DOCUMENT_LIMIT_CHARS or not read:
                raise ToolFault(
                    f"{path!r} is too long, or has too long lines: at most {DOCUMENT_LIMIT_CHARS:,} characters, "
                    "indented; `python3 -m json.tool` writes it so"
                )
            kept = part.text.rpartition("\n")
            lines[-1], first = kept[0] + "\n", first + read

    def target(self, call: ReadArguments | CallArguments, query: Mapping[str, object]) -> Target:
        """Where a call goes, its query included.

        Raises:
            FetchFault: it goes to where nothing is sent.
        """
        plain, _, own = call.url.partition("#")[0].partition("?")
        encoded = urlencode({name: _as_text(value) for name, value in query.items()}, doseq=True)
        url = plain + ("?" if own or encoded else "") + "&".join(filter(None, (own, encoded)))
        found = self._reach.check_url(url)
        if isinstance(found, Unreachable):
            raise FetchFault(found.text)
        return found

    async def send(self, request: Request) -> Came:
        """Send it, and read the answer whole.

        Raises:
            FetchFault: refused, not reached, too slow, broken off, or an answer that is no text.
        """
        try:
            async with asyncio.timeout(self._timeout_s), self._wire.send(request) as answer:
                return await _read(answer)
        except TimeoutError as error:
            raise FetchFault(
                f"{request.target.host!r} did not answer within {self._timeout_s:g} s; what it did is not known"
            ) from error


@dataclass(frozen=True)
class Came:
    """An answer. ``value`` is its JSON, when it is JSON and whole; ``flaw`` why it is not what it says to be."""

    status: int
    media_type: str
    fields: tuple[tuple[str, str], ...]
    text: str
    size_bytes: int
    value: object = None
    flaw: str = ""


async def _carried_out(
    caller: Caller, permit: Permit, call: ReadArguments | CallArguments, context: ToolContext
) -> ToolOutcome:
    """Check the request, send it, and tell what came back and whether it fits.

    Raises:
        FetchFault: as ``Caller.send``.
        MachineError: the document cannot be read or used.
    """
    document = await caller.document(permit, call.openapi)
    target = caller.target(call, call.query)
    operation = document.operation(call.method, target) if document else None
    if wrong := await _unfit_request(call, operation):
        return ToolOutcome("error", f"Nothing was sent, because the request does not fit: {'; '.join(wrong)}")
    came = await caller.send(_filled(caller, call, target, context))
    fit = await _fit_of_answer(call, operation, came)
    return _told(call.method, target, came, fit)


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
        bind = f"stead secret bind {left} --host {head.host}{' --tls' if head.scheme == 'https' else ''} --in PLACE"
        raise FetchFault(
            f"the secret {left!r} may not go into {call.method} {head.scheme}://{head.host}{head.path} where you wrote "
            "it, so nothing was sent: it was not given to this session, is not bound to this host and part of the "
            f"request, or stands there twice; the person binds it: {bind}"
        )
    if unfit := next((name for name, value in filled.items() if not _VALUE.fullmatch(value)), ""):
        raise FetchFault(f"the secret's value does not fit into the header {unfit!r}; send it in the body")
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
            path_args=("openapi",),
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
        return await _carried_out(self._caller, permit, arguments, context)


class ApiCallTool(StructTool[CallArguments]):
    """``api_call``: POST, PUT, PATCH or DELETE."""

    def __init__(self, caller: Caller) -> None:
        declared = Declaration(
            effect=ToolEffect.SEND,
            path_args=("openapi",),
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
        return await _carried_out(self._caller, permit, arguments, context)


async def _unfit_request(call: ReadArguments | CallArguments, operation: Operation | None) -> list[str]:
    body = getattr(call, "body", None)
    wrong: list[str] = []
    if operation is not None:
        own = call.url.partition("#")[0].partition("?")[2]
        flaws, pairs = operation.of_request(Sent(call.query, call.headers, body), own)
        document = operation.document
        wrong = [*flaws, *await misfits(document.draft, document.root, pairs)]
    if schema := getattr(call, "body_schema", None):
        wrong += await misfits("2020-12", schema, [Pair("body", {}, body)])
    return wrong


async def _fit_of_answer(call: ReadArguments | CallArguments, operation: Operation | None, came: Came) -> str:
    """What is to be said about whether the answer fits; "" when nothing says what it should be."""
    if operation is None and not call.answer_schema:
        return ""
    if came.flaw:
        return f"misfit: {came.flaw}"
    wrong: list[str] = []
    try:
        if operation is not None:
            flaws, pairs = operation.of_answer(came.status, came.media_type, came.value)
            document = operation.document
            wrong = [*flaws, *(await misfits(document.draft, document.root, pairs) if call.method != "HEAD" else ())]
        if call.answer_schema:
            wrong += await misfits("2020-12", call.answer_schema, [Pair("", {}, came.value)])
    except ToolFault as fault:  # it was sent and answered, and that must be told
        return f"not checked: {fault}"
    return f"misfit: {'; '.join(wrong)}" if wrong else "fit: the answer is as described"


async def _read(answer: Answer) -> Came:
    """The answer, its body decoded.

    Raises:
        FetchFault: it is no text, or more than is read.
    """
    url = answer.target.url.partition("?")[0]
    media_type, _ = answer.media_type
    told = tuple((name, brief(answer.fields[name])) for name in _TOLD if name in answer.fields)
    body, cut = await answer.body(BODY_LIMIT_BYTES)
    if body and not is_text(media_type):
        kind = brief(media_type) or "of no stated type"
        raise FetchFault(f"{url!r} answered {answer.status} with {kind}; only text is read")
    text = body.decode("utf-8", "replace")
    if cut:
        flaw = f"it has more than {BODY_LIMIT_BYTES:,} bytes, and was cut"
        return Came(answer.status, media_type, told, text, len(body), flaw=flaw)
    if not body or not is_json(media_type):
        return Came(answer.status, media_type, told, text, len(body))
    try:
        value = msgspec.json.decode(body)
        text = msgspec.json.format(body, indent=2).decode("utf-8", "replace")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Came(answer.status, media_type, told, text, len(body), flaw=f"it says to be JSON and is not: {error}")
    return Came(answer.status, media_type, told, text, len(body), value)


def _told(method: str, target: Target, came: Came, fit: str) -> ToolOutcome:
    kind = came.media_type if came.size_bytes else "no body"
    lines = [f"{method} {target.url.partition('?')[0]}: {came.status} ({kind}, {came.size_bytes:,} bytes)"]
    lines += [f"{name}: {value}" for name, value in came.fields]
    lines += filter(None, (fit, came.flaw if came.flaw and not fit else ""))
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
