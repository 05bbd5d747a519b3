"""What went wrong, in HTTP's words.

Layer: a door. Knows the error tree of the domain; must not know who raised what, or why. A problem is a value: the
rules of ``auth.py`` return one, and every fault is turned into one at the edge of the door.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine
from typing import Any, Literal

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from stead.domain.errors import (
    BudgetRefused,
    Code,
    Conflict,
    Fenced,
    InvalidRequest,
    MachineUnavailable,
    NotFound,
    PeerError,
    SteadError,
    StorageFault,
)

_OfDoor = Literal["auth", "content_type", "csrf", "host", "method", "origin", "rate", "timeout", "too_large"]
ErrorCode = Literal[Code, _OfDoor]
"""Every code of an answer; the page has what can be done about each."""
_STATUS: tuple[tuple[type[SteadError], int], ...] = (
    (InvalidRequest, 400),
    (NotFound, 404),
    (Conflict, 409),
    (Fenced, 409),
    (BudgetRefused, 402),
    (MachineUnavailable, 503),
    (StorageFault, 507),
    (PeerError, 502),
)


class Problem(msgspec.Struct, frozen=True):
    """A refusal or a fault on its way out.

    Args:
        status: the HTTP status, 400 to 599.
        code: stable, for programs.
        message: cause and next step, for people; never a secret.
        retry_after_s: seconds to wait before another try; 0 when waiting would not help.
    """

    status: int
    code: ErrorCode
    message: str
    retry_after_s: float = 0.0


class ErrorText(msgspec.Struct, frozen=True):
    """What a program compares (``code``) and what a person reads: the cause and the next step."""

    code: ErrorCode
    message: str


class ErrorBody(msgspec.Struct, frozen=True):
    """The body of every answer from 400 on."""

    error: ErrorText


class Json(Response):
    """Any value that msgspec encodes, as an HTTP response."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        """The body's bytes."""
        return content if isinstance(content, bytes) else msgspec.json.encode(content)


def problem_of(error: SteadError) -> Problem:
    """How a fault is answered: what the caller can fix is 4xx, what a peer broke 502, what we broke 5xx."""
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    return Problem(status, error.code, str(error))


def answer(problem: Problem) -> Response:
    """The problem as a response; on a WebSocket handshake it is the denial."""
    headers = {"retry-after": str(math.ceil(problem.retry_after_s))} if problem.retry_after_s else None
    return Json(ErrorBody(ErrorText(problem.code, problem.message)), problem.status, headers)


UNEXPECTED = Problem(500, "internal", "Stead failed at this request; what happened is in its log: run stead logs")


async def _on_fault(request: Request, error: Exception) -> Response:
    """A handler raised. What nobody foresaw goes on to the guard, which logs it."""
    return answer(problem_of(error) if isinstance(error, SteadError) else UNEXPECTED)


async def _on_http(request: Request, _: HTTPException) -> Response:
    """Routing refused: there is no such path."""
    return answer(Problem(404, "not_found", f"there is nothing at {request.url.path!r}; see /api/v1/openapi.json"))


HANDLERS: dict[int | type[Exception], Callable[[Request, Any], Coroutine[Any, Any, Response]]] = {
    SteadError: _on_fault,
    HTTPException: _on_http,
    Exception: _on_fault,
}
"""Who answers for what is raised, in the outer application and in the API."""
