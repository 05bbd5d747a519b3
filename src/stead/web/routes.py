"""The rows of the table of routes: from a request to a command or a question, and from what comes back to an answer.

Layer: a door. A row names a command, or a function that answers; everything else follows from the fields of that one.
Ids come from the path, the other fields from the query of GET and DELETE and from the body of POST and PUT. The OpenAPI
document is written from the same fields, so that it says what the code does.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Annotated, Any, Generic, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from stead.domain.commands import Answer, Command
from stead.domain.errors import Conflict, InvalidRequest, NotFound
from stead.domain.ids import CommandId
from stead.runtime.service import Service
from stead.web.auth import Caller
from stead.web.backend import Backend
from stead.web.errors import Json, Problem, answer
from stead.web.live import SEQ_MAX, Streams

_log = logging.getLogger(__name__)
_Row = TypeVar("_Row")

Key = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[A-Za-z0-9_-]{8,128}$",
        description="Any fresh text of this form; the same one again gives the first answer and changes nothing.",
    ),
]
"""An ``Idempotency-Key``."""


def _id(pattern: str) -> Any:
    return Annotated[str, msgspec.Meta(pattern=f"^{pattern}$")]


_IDS: dict[str, Any] = {
    "attachment": _id("[0-9a-f]{64}"),
    "approval": _id("a_[0-9a-f]{16}"),
    "check": _id("c[0-9]{1,9}"),
    "call": _id("call_[0-9]{1,18}_[0-9]{1,18}"),
    "checkpoint": _id("k_[0-9a-f]{16}"),
    "directive": _id("d_[0-9a-f]{16}"),
    "mcp": _id("[a-z][a-z0-9-]{0,30}"),
    "memory": _id("m_[0-9a-f]{16}"),
    "proposal": _id("p_[0-9a-f]{16}"),
    "provider": _id("[a-z0-9-]{1,32}"),
    "rule": _id("r_[0-9a-f]{8}"),
    "run": _id("c_[0-9a-f]{16}"),
    "schedule": _id("[a-z][a-z0-9-]{0,30}"),
    "secret": _id("[a-z][a-z0-9_-]{0,63}"),
    "seq": Annotated[int, msgspec.Meta(ge=1, lt=SEQ_MAX)],
    "service": _id("[a-z][a-z0-9-]{0,30}"),
    "session": _id("s_[0-9a-f]{16}"),
    "terminal": _id("t_[0-9a-f]{16}"),
}
Owner = Callable[[Backend], Any]
_IN_PATH = re.compile(r"\{(\w+)(?::(\w+))?\}")


class Page(msgspec.Struct, Generic[_Row], frozen=True):
    """Rows, and the cursor (``after``) of the page that follows, "" when there is none."""

    items: tuple[_Row, ...]
    next: str = ""


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A body without content; it may be left out."""


class Field(NamedTuple):
    """What a caller gives: its type, and what it is when left out (``msgspec.NODEFAULT``: it may not be)."""

    type: Any
    default: Any = msgspec.NODEFAULT


class Content(NamedTuple):
    """What an answer holds: something of a type, or of several types a list."""

    type: Any
    media_type: str = "application/json"


class Carrier:
    """Takes commands to the runtime and brings their answers back, within a time.

    A command that takes longer is not broken off half-way: it goes on, and its answer is had by sending it again.
    """

    def __init__(self, service: Service, timeout_s: float) -> None:
        self._service = service
        self._timeout_s = timeout_s
        self._under_way: dict[CommandId, tuple[Command, asyncio.Task[Answer]]] = {}

    async def carry(self, command: Command, id: CommandId, door: str) -> Answer | Problem:
        """One command; sent again while it is being carried out, it waits for the same answer.

        Raises:
            Conflict: another command of this id is being carried out.
            SteadError: as ``Service.handle``.
        """
        if id not in self._under_way:
            started = asyncio.create_task(self._service.handle(command, id=id, door=door))
            self._under_way[id] = (command, started)
            started.add_done_callback(lambda _: self._under_way.pop(id))
        known, task = self._under_way[id]
        if known != command:
            raise Conflict(f"the idempotency key {id!r} is being used for another command; make a new one")
        await asyncio.wait({task}, timeout=self._timeout_s)
        if task.done():
            return task.result()
        task.add_done_callback(_log_late)
        return Problem(504, "timeout", "still being carried out; send it again with the same Idempotency-Key", 1.0)


def _log_late(task: asyncio.Task[Answer]) -> None:
    if not task.cancelled() and (error := task.exception()):
        _log.error("a command failed after its caller had stopped waiting", exc_info=error)


@dataclass(frozen=True)
class Context:
    """A request, and what it can be answered from.

    Args:
        request: whose caller the guard has let in.
        behind: everything behind the door.
        streams: what is open.
        carrier: takes commands to the runtime.
        verifying: a check of the whole journal is done for one caller at a time.
    """

    request: Request
    behind: Backend
    streams: Streams
    carrier: Carrier
    verifying: asyncio.Lock

    @property
    def caller(self) -> Caller:
        """Who asks."""
        caller: Caller = self.request.state.caller
        return caller


@dataclass(frozen=True)
class Route:
    """One row of the table: what is done at a method and a path.

    Args:
        method: of HTTP.
        path: below ``/api/v1``; ``{name}`` or ``{name:kind}`` is an id of a kind.
        name: of the operation, unique.
        makes: a command, or a function (or method) that answers, described by the first paragraph of its docstring. A
            function's first parameter is the ``Context``. One that is not async blocks, and is called in a thread.
        body: name of the body's type in the document; "" where nothing is taken.
        owner: finds the object whose method ``makes`` is.
        status: of its success.
        leads_to: where the id of what it makes or lists is found, such as ``$response.body#/session``; the document
            links it to the operations at that id, below this path.
        says: what it does, where the docstring says it of more than this.
        fixed: fields that no caller gives.
        spread: the field whose own fields are the body; "" for none.
        bounds: fields that take other values than their type says.
        gives: what an answer holds that the function makes itself.
    """

    method: str
    path: str
    name: str
    makes: Callable[..., Any]
    body: str = ""
    owner: Owner | None = None
    status: int = 200
    leads_to: str = ""
    says: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    spread: str = ""
    bounds: Mapping[str, Field] = field(default_factory=dict)
    gives: Content | None = None

    @property
    def is_command(self) -> bool:
        """Whether it changes something by a command, which needs an idempotency key."""
        return isinstance(self.makes, type)

    @property
    def description(self) -> str:
        """What it does."""
        return self.says or inspect.cleandoc(self.makes.__doc__ or "").partition("\n\n")[0]

    @cached_property
    def shown_path(self) -> str:
        """The path as the document has it."""
        return _IN_PATH.sub(r"{\1}", self.path)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches what this row is the route of."""
        return re.compile(_IN_PATH.sub(r"(?P<\1>[^/\\n]+)", self.path.replace(".", r"\.")))

    @cached_property
    def ids(self) -> dict[str, Any]:
        """The types of the ids in its path."""
        return {name: _IDS[kind or name] for name, kind in _IN_PATH.findall(self.path)}

    @cached_property
    def takes(self) -> type[msgspec.Struct]:
        """What a caller gives apart from the ids; the query or the body is decoded by it."""
        fields = {
            name: taken for name, taken in self._fields.items() if name not in (*self._bound.values(), self.spread)
        }
        if self.spread:
            fields |= _fields_of(self._fields[self.spread].type)
        if not fields:
            return Nothing
        members = [(name, taken.type, taken.default) for name, taken in fields.items()]
        # A caller may give a secret; whatever shows a body by accident shows none of it.
        namespace = {"__doc__": self.makes.__doc__, "__repr__": object.__repr__}
        return msgspec.defstruct(
            self.body or self.name, members, frozen=True, kw_only=True, forbid_unknown_fields=True, namespace=namespace
        )

    @cached_property
    def returns(self) -> Any:
        """The type of what the command or function gives."""
        return Answer if self.is_command else get_type_hints(self.makes)["return"]

    @cached_property
    def rows(self) -> Any:
        """The type of the rows that it answers with; nothing when it answers with one thing."""
        match get_origin(self.returns), get_args(self.returns):
            case (origin, (rows, second)) if origin is tuple and second is str:
                return get_args(rows)[0]
            case (origin, (row, *_)) if origin in (tuple, Sequence):
                return row
            case _:
                return None

    @property
    def content(self) -> Content:
        """What its answer holds."""
        page: Any = Page
        return self.gives or Content(self.returns if self.rows is None else page[self.rows])

    @property
    def in_query(self) -> bool:
        """Whether it takes a query; otherwise it takes a body."""
        return self.method in ("GET", "DELETE")

    async def answer(self, context: Context, path: Mapping[str, str]) -> Response:
        """Answer a request of this method and path.

        Args:
            context: the request.
            path: the ids as they stand in its path.

        Raises:
            NotFound: there can be no such id.
            InvalidRequest: the query, the body or the key does not fit.
            SteadError: as what it leads to.
        """
        arguments = {self._bound[name]: _read_id(name, self.ids[name], text) for name, text in path.items()}
        given: Any = msgspec.structs.asdict(await self._read(context.request))
        if self.spread:
            given = {self.spread: self._fields[self.spread].type(**given)}
        arguments |= {**self.fixed, **given}
        result = await (self._carry(context, arguments) if self.is_command else self._ask(context, arguments))
        return result if isinstance(result, Response) else Json(result, self.status)

    async def _carry(self, context: Context, arguments: Mapping[str, Any]) -> Any:
        given = context.request.headers.get("idempotency-key", "")
        try:
            key = msgspec.convert(given, Key)
        except msgspec.ValidationError as error:
            raise InvalidRequest(f"header 'Idempotency-Key': {error}; see /api/v1/openapi.json") from error
        result = await context.carrier.carry(self.makes(**arguments), CommandId(key), context.caller.name)
        return answer(result) if isinstance(result, Problem) else result

    async def _ask(self, context: Context, arguments: Mapping[str, Any]) -> Any:
        asked = partial(self.makes, context)
        if self.owner is not None:
            asked = getattr(self.owner(context.behind), self.makes.__name__)
        blocks = not inspect.iscoroutinefunction(self.makes)
        result = await (asyncio.to_thread(asked, **arguments) if blocks else asked(**arguments))
        if self.rows is None:
            return result
        rows, cursor = result if get_args(self.returns)[-1] is str else (result, "")
        return Page(tuple(rows), cursor)

    async def _read(self, request: Request) -> msgspec.Struct:
        where = "query" if self.in_query else "body"
        try:
            return _convert_query(request.query_params, self.takes) if self.in_query else await self._decode(request)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise InvalidRequest(f"the {where} is not what is taken here: {error}; see /api/v1/openapi.json") from error

    async def _decode(self, request: Request) -> msgspec.Struct:
        raw = await request.body() or b"{}"
        try:
            return msgspec.json.decode(raw, type=self.takes)
        except msgspec.ValidationError:
            # For JSON Schema 5.0 is an integer, and some languages write all their numbers so.
            return msgspec.convert(_with_integers(msgspec.json.decode(raw)), self.takes)

    @cached_property
    def _fields(self) -> dict[str, Field]:
        """Everything that the command or function takes and no row fixes, by name."""
        taken = {name: of for name, of in _fields_of(self.makes).items() if name not in self.fixed}
        return {**taken, **self.bounds}

    @cached_property
    def _bound(self) -> dict[str, str]:
        """The field of each id in the path: the one of its name, otherwise the first that is left."""
        bound: dict[str, str] = {}
        for name in self.ids:
            left = (field for field in self._fields if field not in bound.values())
            bound[name] = name if name in self._fields else next(left)
        return bound


def get(path: str, name: str, makes: Callable[..., Any], owner: Owner | None = None, **more: Any) -> Route:
    """A row that reads; see ``Route``."""
    return Route("GET", path, name, makes, owner=owner, **more)


def post(path: str, name: str, makes: Callable[..., Any], body: str = "", **more: Any) -> Route:
    """A row that does something, with a body of this type in the document; see ``Route``."""
    return Route("POST", path, name, makes, body, **more)


def _default(field: msgspec.structs.FieldInfo) -> Any:
    made = field.default_factory
    return field.default if made is msgspec.NODEFAULT else made()


def _fields_of(makes: Callable[..., Any]) -> dict[str, Field]:
    """The fields of a struct, or the parameters of a function after its first one."""
    if isinstance(makes, type):
        return {found.name: Field(found.type, _default(found)) for found in msgspec.structs.fields(makes)}
    hints = get_type_hints(makes, include_extras=True)
    _, *parameters = inspect.signature(makes).parameters.values()
    needed = msgspec.NODEFAULT
    return {
        found.name: Field(hints[found.name], needed if found.default is found.empty else found.default)
        for found in parameters
    }


def _read_id(name: str, kind: Any, text: str) -> Any:
    try:
        return msgspec.convert(text, kind, strict=False)
    except msgspec.ValidationError:
        raise NotFound(f"there is no {name} {text!r}; list what there is") from None


def _convert_query(given: QueryParams, kind: type[msgspec.Struct]) -> msgspec.Struct:
    """What a query says; a name that comes often counts as often where a list is taken, otherwise its last value."""
    fields = [found for found in msgspec.structs.fields(kind) if found.name in given]
    found = {
        field.name: given.getlist(field.name) if get_origin(field.type) is tuple else given[field.name]
        for field in fields
    }
    return msgspec.convert(found, kind, strict=False)


def _with_integers(value: Any) -> Any:
    """Plain data, its floats without a fraction as integers."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {name: _with_integers(item) for name, item in value.items()}
        case list():
            return [_with_integers(item) for item in value]
        case _:
            return value
