"""Everything that changes something: POST and DELETE, each one command for the runtime.

Layer: a door. Turns the wire into commands and nothing more; what a command means, and whether it may happen, is
decided below. A command's ``Idempotency-Key`` goes with it, so a request that is sent twice is carried out once.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Annotated, Literal

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

router = APIRouter(generate_unique_id_function=lambda route: route.name)


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


# -- bodies ---------------------------------------------------------------------------------------------------------


class NewObjective(CreateObjective, frozen=True, tag=False, forbid_unknown_fields=True):
    """A goal, the folder it is about, and under which limits it is worked on."""


class NewProvider(ConfigureProvider, frozen=True, tag=False, forbid_unknown_fields=True):
    """A provider to add or change. ``key`` is "none", "env:NAME" or "vault"; never the key itself."""


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A body without content; it may be left out."""


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
        "show_objective",
        "list_steps",
        "pause",
        "resume",
        "cancel",
        "stop",
        "retry",
        "delete",
        "send_message",
        "revoke",
    ),
    "session=$response.body#/session",
)
_OF_PROVIDER = dict.fromkeys(("set_provider_key", "remove_provider", "check_provider"), "provider=$request.body#/name")


# -- objectives -----------------------------------------------------------------------------------------------------


@router.post("/objectives", **operation(Answer, takes=NewObjective, status=201, leads_to=_OF_OBJECTIVE))
async def create_objective(body: Annotated[NewObjective, body_of(NewObjective)], ask: Ask) -> Response:
    """Give a goal. The answer's ``session`` is the new objective."""
    return await ask(CreateObjective(**msgspec.structs.asdict(body)), 201)


@router.post("/objectives/{session}/pause", **operation(Answer, takes=Nothing))
async def pause(session: Session, body: Annotated[Nothing, body_of(Nothing)], ask: Ask) -> Response:
    """Let what is under way finish, then hold."""
    return await ask(Pause(session))


@router.post("/objectives/{session}/resume", **operation(Answer, takes=Nothing))
async def resume(session: Session, body: Annotated[Nothing, body_of(Nothing)], ask: Ask) -> Response:
    """Go on."""
    return await ask(Resume(session))


@router.post("/objectives/{session}/cancel", **operation(Answer, takes=Nothing))
async def cancel(session: Session, body: Annotated[Nothing, body_of(Nothing)], ask: Ask) -> Response:
    """End it as cancelled; what is under way is killed."""
    return await ask(Cancel(session))


@router.post("/objectives/{session}/stop", **operation(Answer, takes=Why))
async def stop(session: Session, body: Annotated[Why, body_of(Why)], ask: Ask) -> Response:
    """Kill what is under way at once, and hold."""
    return await ask(Stop(session, body.why))


@router.post("/objectives/{session}/retry", **operation(Answer, takes=Again))
async def retry(session: Session, body: Annotated[Again, body_of(Again)], ask: Ask) -> Response:
    """Run a failed or cancelled objective again, with what it knows."""
    return await ask(Retry(session, body.budget))


@router.post("/objectives/{session}/delete", **operation(Answer, takes=Nothing))
async def delete(session: Session, body: Annotated[Nothing, body_of(Nothing)], ask: Ask) -> Response:
    """Erase an ended objective's content."""
    return await ask(Delete(session))


@router.post("/objectives/{session}/messages", **operation(Answer, takes=Words))
async def send_message(session: Session, body: Annotated[Words, body_of(Words)], ask: Ask) -> Response:
    """Say something; it is read before the next model request."""
    return await ask(SendMessage(session, body.text))


@router.post("/objectives/{session}/revoke", **operation(Answer, takes=ToolName))
async def revoke(session: Session, body: Annotated[ToolName, body_of(ToolName)], ask: Ask) -> Response:
    """Take back what was granted to a tool."""
    return await ask(Revoke(session, body.tool))


@router.post("/stop", **operation(Answer, takes=Why))
async def stop_everything(body: Annotated[Why, body_of(Why)], ask: Ask) -> Response:
    """Stop every session at once."""
    return await ask(Stop(EVERY_SESSION, body.why))


@router.post("/approvals/{approval}/decision", **operation(Answer, takes=GivenAnswer))
async def decide(approval: Approval, body: Annotated[GivenAnswer, body_of(GivenAnswer)], ask: Ask) -> Response:
    """Answer a question. The first answer wins; 409 when it is settled, or the digest is of something else."""
    return await ask(Decide(approval, body.digest, body.answer, body.reason, body.whole))


# -- models and money -----------------------------------------------------------------------------------------------


@router.post("/providers", **operation(Answer, takes=NewProvider, leads_to=_OF_PROVIDER))
async def configure_provider(body: Annotated[NewProvider, body_of(NewProvider)], ask: Ask) -> Response:
    """Add or change a provider."""
    return await ask(ConfigureProvider(**msgspec.structs.asdict(body)))


@router.post("/providers/{provider}/key", **operation(Answer, takes=ProviderKey))
async def set_provider_key(
    provider: Provider, body: Annotated[ProviderKey, body_of(ProviderKey)], ask: Ask
) -> Response:
    """Put a provider's key into the vault. It is shown nowhere again."""
    return await ask(SetProviderKey(provider, body.key))


@router.delete("/providers/{provider}", **operation(Answer))
async def remove_provider(provider: Provider, ask: Ask) -> Response:
    """Forget a provider and its key."""
    return await ask(RemoveProvider(provider))


@router.post("/providers/{provider}/test", **operation(ProviderCheck, takes=Nothing))
async def check_provider(provider: Provider, body: Annotated[Nothing, body_of(Nothing)], behind: Behind) -> Response:
    """Send the provider one real, tiny request."""
    return Json(await behind.service.check_provider(provider))


@router.post("/chain", **operation(Answer, takes=ModelChain))
async def set_chain(body: Annotated[ModelChain, body_of(ModelChain)], ask: Ask) -> Response:
    """Choose the default model and its fallbacks."""
    return await ask(SetChain(body.chain))


@router.post("/cap", **operation(Answer, takes=DailyCap))
async def set_cap(body: Annotated[DailyCap, body_of(DailyCap)], ask: Ask) -> Response:
    """Cap what the whole home may spend in a day."""
    return await ask(SetCap(body.daily))


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
