"""Everything that changes something: POST and DELETE, each one command for the runtime.

Layer: a door. Turns the wire into commands and nothing more; what a command means, and whether it may happen, is
decided below. A command's ``Idempotency-Key`` goes with it, so a request that is sent twice is carried out once.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Depends, Header, Path, Request
from fastapi.responses import Response

from stead.domain.commands import (
    DEFAULT_BUDGET,
    Answer,
    Cancel,
    Command,
    ConfigureProvider,
    CreateObjective,
    Decide,
    Delete,
    Pause,
    RemoveProvider,
    Resume,
    Retry,
    Revoke,
    SendMessage,
    SetCap,
    SetChain,
    SetProviderKey,
    Stop,
)
from stead.domain.errors import Conflict
from stead.domain.events import Budget, ModelRef
from stead.domain.ids import ApprovalId, CallDigest, CommandId, SessionId
from stead.runtime.service import ProviderCheck, Service
from stead.web.auth import Caller
from stead.web.backend import Backend
from stead.web.errors import Json, Problem, answer
from stead.web.openapi import body_of, operation

_log = logging.getLogger(__name__)

KEY_PATTERN = r"^[A-Za-z0-9_-]{8,128}$"
EVERY_SESSION = SessionId("*")
_IN_PATH = re.compile(r"\{(\w+)")


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


class Asker:
    """One request's way to the runtime."""

    def __init__(self, request: Request, key: str) -> None:
        self._carrier: Carrier = request.app.state.carrier
        self._caller: Caller = request.state.caller
        self._key = CommandId(key)

    async def __call__(self, command: Command, status: int = 200) -> Response:
        """Carry the command out; gives the response."""
        result = await self._carrier.carry(command, self._key, self._caller.door)
        return answer(result) if isinstance(result, Problem) else Json(result, status)


async def _asker(
    request: Request,
    key: Annotated[
        str,
        Header(
            alias="Idempotency-Key",
            pattern=KEY_PATTERN,
            description="Any fresh text of this form; the same one again gives the first answer and changes nothing.",
        ),
    ],
) -> Asker:
    return Asker(request, key)


async def _backend(request: Request) -> Backend:
    backend: Backend = request.app.state.backend
    return backend


Ask = Annotated[Asker, Depends(_asker)]
Behind = Annotated[Backend, Depends(_backend)]
Session = Annotated[SessionId, Path(pattern=r"^s_[0-9a-f]{16}$")]
Approval = Annotated[ApprovalId, Path(pattern=r"^a_[0-9a-f]{16}$")]
Provider = Annotated[str, Path(pattern=r"^[a-z0-9-]{1,32}$")]


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A body without content; it may be left out."""


class CommandRouter(APIRouter):
    """Routes, most of which are one command each.

    Args:
        ids: what may stand in their paths, by name.
    """

    def __init__(self, **ids: Any) -> None:
        super().__init__(generate_unique_id_function=lambda route: route.name)
        self._ids = ids

    def command(
        self,
        path: str,
        name: str,
        makes: type[Command],
        takes: type[msgspec.Struct] | None = Nothing,
        *,
        method: str = "POST",
        status: int = 200,
        leads_to: Mapping[str, str] | None = None,
    ) -> None:
        """Add a route that carries out one command, described by the first paragraph of the command's docstring.

        Args:
            path: its ids are the command's first fields, in this order.
            name: of the operation.
            makes: the command.
            takes: its body, whose fields are the command's fields of these names; none for no body.
            method: of HTTP.
            status: as of ``operation``.
            leads_to: likewise.
        """
        description = inspect.cleandoc(makes.__doc__ or "").partition("\n\n")[0]
        described = operation(Answer, takes=takes, status=status, leads_to=leads_to)
        ids = {id: self._ids[id] for id in _IN_PATH.findall(path)}
        handler = _Handler(makes, takes, status, ids)
        self.add_api_route(path, handler, methods=[method], name=name, description=description, **described)


class _Handler:
    """What ``CommandRouter.command`` has FastAPI call; its signature tells which arguments to call it with."""

    def __init__(
        self, makes: type[Command], takes: type[msgspec.Struct] | None, status: int, ids: Mapping[str, Any]
    ) -> None:
        self._makes: Callable[..., Command] = makes
        self._status = status
        wanted = {**ids, **({"body": Annotated[takes, body_of(takes)]} if takes else {}), "ask": Ask}
        kind = inspect.Parameter.KEYWORD_ONLY
        parameters = [inspect.Parameter(name, kind, annotation=annotation) for name, annotation in wanted.items()]
        self.__signature__ = inspect.Signature(parameters)

    async def __call__(self, *, ask: Asker, body: msgspec.Struct | None = None, **ids: str) -> Response:
        fields = msgspec.structs.asdict(body) if body is not None else {}
        return await ask(self._makes(*ids.values(), **fields), self._status)


router = CommandRouter(approval=Approval, provider=Provider, session=Session)


# -- bodies ---------------------------------------------------------------------------------------------------------


class NewObjective(CreateObjective, frozen=True, tag=False, forbid_unknown_fields=True):
    """A goal, the folder it is about, and under which limits it is worked on."""


class NewProvider(ConfigureProvider, frozen=True, tag=False, forbid_unknown_fields=True):
    """A provider to add or change. ``key`` is "none", "env:NAME" or "vault"; never the key itself."""


class Why(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reason to keep."""

    why: str = ""


class Again(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a retry may spend."""

    budget: Budget = DEFAULT_BUDGET


class Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person says."""

    text: str


class ToolName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tool."""

    tool: str


class GivenAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer to a question; ``digest`` is the one that was shown with it, ``whole`` as of ``Decide``."""

    answer: Literal["once", "trust", "session", "project", "deny"]
    digest: CallDigest
    reason: str = ""
    whole: bool = False


class ProviderKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A provider's secret key, on its way into the vault."""

    key: str


class ModelChain(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Models in the order in which they are tried; empty means whatever is found."""

    chain: tuple[ModelRef, ...]


class DailyCap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the whole home may spend in a UTC day."""

    daily: Budget


class CodeWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the link is to lead. ``plain_host``: to 127.0.0.1, for browsers that do not know the page's own name."""

    plain_host: bool = False


class SignInCode(msgspec.Struct, frozen=True):
    """A one-time code, and the link that signs a browser in with it within ten minutes."""

    code: str
    url: str


class Code(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A one-time code."""

    code: str


class Done(msgspec.Struct, frozen=True):
    """It was done; ``text`` says what."""

    text: str


_OF_OBJECTIVE = dict.fromkeys(
    (
        *("show_objective", "list_steps", "pause", "resume", "cancel"),
        *("stop", "retry", "delete", "send_message", "revoke"),
    ),
    "session=$response.body#/session",
)
_OF_PROVIDER = dict.fromkeys(("set_provider_key", "remove_provider", "check_provider"), "provider=$request.body#/name")


# -- objectives -----------------------------------------------------------------------------------------------------


router.command("/objectives", "create_objective", CreateObjective, NewObjective, status=201, leads_to=_OF_OBJECTIVE)
router.command("/objectives/{session}/pause", "pause", Pause)
router.command("/objectives/{session}/resume", "resume", Resume)
router.command("/objectives/{session}/cancel", "cancel", Cancel)
router.command("/objectives/{session}/stop", "stop", Stop, Why)
router.command("/objectives/{session}/retry", "retry", Retry, Again)
router.command("/objectives/{session}/delete", "delete", Delete)
router.command("/objectives/{session}/messages", "send_message", SendMessage, Words)
router.command("/objectives/{session}/revoke", "revoke", Revoke, ToolName)


@router.post("/stop", **operation(Answer, takes=Why))
async def stop_everything(body: Annotated[Why, body_of(Why)], ask: Ask) -> Response:
    """Stop every session at once."""
    return await ask(Stop(EVERY_SESSION, body.why))


router.command("/approvals/{approval}/decision", "decide", Decide, GivenAnswer)


# -- models and money -----------------------------------------------------------------------------------------------


router.command("/providers", "configure_provider", ConfigureProvider, NewProvider, leads_to=_OF_PROVIDER)
router.command("/providers/{provider}/key", "set_provider_key", SetProviderKey, ProviderKey)
router.command("/providers/{provider}", "remove_provider", RemoveProvider, None, method="DELETE")


@router.post("/providers/{provider}/test", **operation(ProviderCheck, takes=Nothing))
async def check_provider(provider: Provider, body: Annotated[Nothing, body_of(Nothing)], behind: Behind) -> Response:
    """Send the provider one real, tiny request."""
    return Json(await behind.service.check_provider(provider))


router.command("/chain", "set_chain", SetChain, ModelChain)
router.command("/cap", "set_cap", SetCap, DailyCap)


# -- the door itself ------------------------------------------------------------------------------------------------


@router.post("/sign-in-codes", **operation(SignInCode, takes=CodeWish))
async def make_sign_in_code(body: Annotated[CodeWish, body_of(CodeWish)], behind: Behind) -> Response:
    """A link that signs a browser in. For the command line."""
    return Json(SignInCode(*behind.auth.make_code(plain_host=body.plain_host)))


@router.post("/sign-in", **operation(Done, takes=Code))
async def sign_in(request: Request, body: Annotated[Code, body_of(Code)], behind: Behind) -> Response:
    """Spend a one-time code for a browser session, which the cookie of the answer is. For the page."""
    if request.state.caller.door != "web":
        return answer(Problem(403, "auth", "a browser signs in at the page's own name; run: stead open"))
    cookie = await behind.auth.sign_in(body.code)
    if isinstance(cookie, Problem):
        return answer(cookie)
    return Json(Done("signed in"), headers={"set-cookie": cookie})


@router.post("/sign-out", **operation(Done, takes=Nothing))
async def sign_out(request: Request, body: Annotated[Nothing, body_of(Nothing)], behind: Behind) -> Response:
    """End this browser's session."""
    return Json(Done("signed out"), headers={"set-cookie": await behind.auth.sign_out(request.state.caller)})


@router.post("/views/rebuild", **operation(Done, takes=Nothing))
async def rebuild_views(body: Annotated[Nothing, body_of(Nothing)], behind: Behind) -> Response:
    """Make the read models anew from the journal; what is under way goes on meanwhile."""
    events = await asyncio.to_thread(behind.views.rebuild)
    return Json(Done(f"rebuilt from {events} events"))


@router.post("/shutdown", **operation(Done, takes=Nothing, status=202))
async def shut_down(body: Annotated[Nothing, body_of(Nothing)], behind: Behind) -> Response:
    """Ask the daemon to leave in good order. For the command line."""
    behind.shut_down()
    return Json(Done("the daemon is leaving; what is under way goes on at its next start"), 202)
