"""The person's directives: what models are told always, its versions, and what that makes of a prompt.

Layer: a door. It must not know what a directive does; text goes down, and what became of it comes back up.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import Path, Query
from fastapi.responses import Response

from stead.domain.commands import Answer
from stead.domain.directive_commands import (
    OrderDirectives,
    RemoveDirective,
    RestoreDirective,
    SetDirective,
    SwitchDirective,
)
from stead.domain.directives import (
    Directive,
    DirectiveId,
    DirectiveKind,
    DirectiveRow,
    DirectiveVersion,
    Prompt,
    Template,
)
from stead.domain.policies import Rule
from stead.domain.starting_points import TEMPLATES
from stead.web.commands import Ask, Behind, CommandRouter
from stead.web.errors import Json
from stead.web.ids import know_ids
from stead.web.openapi import body_of, operation
from stead.web.views import Cursor, Page

know_ids()
Id = Annotated[DirectiveId, Path(pattern=r"^d_[0-9a-f]{16}$")]
router = CommandRouter(id=Id)
VersionNo = Annotated[int, Query(ge=0, le=2**31)]
Few = Annotated[int, Query(ge=1, le=50)]
Folder = Annotated[str, Query(max_length=4096, pattern="^(/.*)?$", description='A folder, "" for any other.')]


# -- bodies ---------------------------------------------------------------------------------------------------------


class NewDirective(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A directive to write; see ``Directive`` for the fields, and ``why`` for a note on it."""

    kind: DirectiveKind
    title: str
    text: str
    directory: str = ""
    enabled: bool = True
    why: str = ""


class ChangedDirective(NewDirective, frozen=True, forbid_unknown_fields=True):
    """A directive as it is to be. ``version``: the one that this was made from; 409 when there is a later one."""

    version: int = 0


class Switch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether models are told it."""

    enabled: bool


class WantedOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Directives that come first, in this order; the others follow as they are."""

    ids: tuple[DirectiveId, ...]


class OlderVersion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which one is to be there again."""

    version: int


class WantedPrompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """For whom a prompt is to be composed: a session or an objective, in a folder; and with which unsaved directive.

    Args:
        directory: absolute; "" for a folder without directives of its own.
        attended: for a session that people work in; else for an objective.
        draft: to be taken for saved; left out for none. With ``id`` "" it is a new one.
    """

    directory: str = ""
    attended: bool = True
    draft: Draft | None = None


class Draft(NewDirective, frozen=True, forbid_unknown_fields=True):
    """A directive that is not saved."""

    id: str = ""


_OF_DIRECTIVE = dict.fromkeys(
    (
        *("show_directive", "change_directive", "switch_directive", "remove_directive", "list_directive_versions"),
        *("compare_directive", "restore_directive"),
    ),
    "id=$response.body#/items/0/directive/id",
)


@router.get("/directives", **operation(Page[DirectiveRow], leads_to=_OF_DIRECTIVE))
async def list_directives(behind: Behind) -> Response:
    """The directives, in the order in which models are told those that are on."""
    return Json(Page(await behind.service.directives.rows()))


router.command("/directives", "write_directive", SetDirective, NewDirective)
router.command("/directives/order", "order_directives", OrderDirectives, WantedOrder)


@router.get("/directives/templates", **operation(Page[Template]))
async def list_templates() -> Response:
    """Starting points; brackets in them are for the person to fill in."""
    return Json(Page(TEMPLATES))


@router.get("/directives/preview", **operation(Prompt))
async def preview_prompt(behind: Behind, directory: Folder = "", attended: bool = True) -> Response:
    """What a session or an objective of a folder would be told before all else, part by part."""
    return Json(await behind.service.directives.prompt(directory, attended=attended, draft=None))


@router.post("/directives/preview", **operation(Prompt, takes=WantedPrompt))
async def preview_draft(body: Annotated[WantedPrompt, body_of(WantedPrompt)], behind: Behind) -> Response:
    """The same with a directive that is not saved yet; nothing is changed."""
    draft = _as_directive(body.draft) if body.draft is not None else None
    return Json(await behind.service.directives.prompt(body.directory, attended=body.attended, draft=draft))


@router.put("/directives/{id:directive}", **operation(Answer, takes=ChangedDirective))
async def change_directive(id: Id, body: Annotated[ChangedDirective, body_of(ChangedDirective)], ask: Ask) -> Response:
    """Write another text of one; what it was before stays on record as a version."""
    return await ask(SetDirective(id=id, **msgspec.structs.asdict(body)))


router.command("/directives/{id:directive}/switch", "switch_directive", SwitchDirective, Switch)
router.command("/directives/{id:directive}", "remove_directive", RemoveDirective, None, method="DELETE")


@router.get("/directives/{id:directive}/rules", **operation(Page[Rule]))
async def list_offered_rules(id: Id, behind: Behind) -> Response:
    """Sentences of a directive of behavioural rules that could be standing rules, which are enforced."""
    return Json(Page(await behind.service.directives.offers(id)))


@router.get("/directives/{id:directive}/versions", **operation(Page[DirectiveVersion]))
async def list_directive_versions(id: Id, behind: Behind, after: Cursor = "", limit: Few = 20) -> Response:
    """What it was, newest first, each with its diff to the one before; also of one that was removed."""
    found = await behind.service.directives.versions(id, before=int(after or 0), limit=limit)
    oldest = found[-1].directive.version if found else 1
    return Json(Page(found, str(oldest) if oldest > 1 else ""))


@router.get("/directives/{id:directive}/diff", **operation(DirectiveVersion))
async def compare_directive(id: Id, behind: Behind, old: VersionNo, new: VersionNo) -> Response:
    """One of its versions, with what differs from another one."""
    return Json(await behind.service.directives.difference(id, old, new))


router.command("/directives/{id:directive}/restore", "restore_directive", RestoreDirective, OlderVersion)


def _as_directive(draft: Draft) -> Directive:
    fields = msgspec.structs.asdict(draft)
    del fields["why"]
    return Directive(**{**fields, "id": DirectiveId(draft.id), "order": 0, "version": 0})
