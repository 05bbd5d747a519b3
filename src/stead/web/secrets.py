"""Secrets through the door: a value comes in with one request and goes out with none.

Layer: a door. It must not know what a binding means; the runtime says what cannot be.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Path
from fastapi.responses import Response

from stead.domain.commands import AddSecret, Answer, BindSecret, RemoveSecret, UnbindSecret
from stead.domain.rows import SecretRow
from stead.domain.secrets import Binding
from stead.web.commands import Ask, Behind
from stead.web.errors import Json
from stead.web.openapi import body_of, operation
from stead.web.views import Page

router = APIRouter(generate_unique_id_function=lambda route: route.name)

Name = Annotated[str, Path(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]
_OF_SECRET = dict.fromkeys(("bind_secret", "unbind_secret", "remove_secret"), "secret=$request.body#/name")


class NewSecret(AddSecret, frozen=True, tag=False, forbid_unknown_fields=True):
    """A name and a value, on its way into the vault; no answer and no event has it."""


class NewBinding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a value may go: requests to a host, or one argument of one tool."""

    binding: Binding


class Unbound(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The host (as it was bound, wildcard and all) or the tool whose bindings end; give one of them."""

    host: str = ""
    tool: str = ""


@router.get("/secrets", **operation(Page[SecretRow]))
async def list_secrets(behind: Behind) -> Response:
    """What the vault has, without values."""
    return Json(Page(await behind.service.secret_rows()))


@router.post("/secrets", **operation(Answer, takes=NewSecret, status=201, leads_to=_OF_SECRET))
async def add_secret(body: Annotated[NewSecret, body_of(NewSecret)], ask: Ask) -> Response:
    """Put a value into the vault. It is shown nowhere again; 409 when there is one and ``replace`` is false."""
    return await ask(AddSecret(body.name, body.value, body.replace), 201)


@router.post("/secrets/{secret}/bindings", **operation(Answer, takes=NewBinding))
async def bind_secret(secret: Name, body: Annotated[NewBinding, body_of(NewBinding)], ask: Ask) -> Response:
    """Let the value go to a destination. Without any, it goes nowhere."""
    return await ask(BindSecret(secret, body.binding))


@router.post("/secrets/{secret}/unbind", **operation(Answer, takes=Unbound))
async def unbind_secret(secret: Name, body: Annotated[Unbound, body_of(Unbound)], ask: Ask) -> Response:
    """End every binding to a host or to a tool."""
    return await ask(UnbindSecret(secret, body.host, body.tool))


@router.delete("/secrets/{secret}", **operation(Answer))
async def remove_secret(secret: Name, ask: Ask) -> Response:
    """Erase the value and end its bindings."""
    return await ask(RemoveSecret(secret))
