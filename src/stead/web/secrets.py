"""Secrets through the door: a value comes in with one request and goes out with none.

Layer: a door. It must not know what a binding means; the runtime says what cannot be.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import Path
from fastapi.responses import Response

from stead.domain.commands import AddSecret, BindSecret, RemoveSecret, UnbindSecret
from stead.domain.rows import SecretRow
from stead.domain.secrets import Binding
from stead.web.commands import Behind, CommandRouter
from stead.web.errors import Json
from stead.web.openapi import operation
from stead.web.views import Page

Name = Annotated[str, Path(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]
router = CommandRouter(secret=Name)
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


router.command("/secrets", "add_secret", AddSecret, NewSecret, status=201, leads_to=_OF_SECRET)
router.command("/secrets/{secret}/bindings", "bind_secret", BindSecret, NewBinding)
router.command("/secrets/{secret}/unbind", "unbind_secret", UnbindSecret, Unbound)
router.command("/secrets/{secret}", "remove_secret", RemoveSecret, None, method="DELETE")
