"""The person's standing rules: the read and the commands of them.

Layer: a door. It must not know what a rule means; a sentence goes down and a rule comes back up.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
from fastapi import Path
from fastapi.responses import Response

from stead.domain.commands import AddRule, RemoveRule
from stead.domain.events import Event, RuleMade, RuleRemoved
from stead.domain.ids import HOME
from stead.domain.policies import Rule
from stead.domain.ports import Journal
from stead.web.commands import Behind, CommandRouter
from stead.web.errors import Json
from stead.web.openapi import operation
from stead.web.views import Page

router = CommandRouter(id=Annotated[str, Path(pattern=r"^r_[0-9a-f]{8}$")])


class Sentence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rule in the person's words, and the folder that it holds for; "" for every one."""

    text: str
    directory: str = ""


@router.get("/rules", **operation(Page[Rule]))
async def list_rules(behind: Behind) -> Response:
    """What the person's standing rules are, and how each is understood."""
    return Json(Page(await asyncio.to_thread(_standing, behind.journal)))


router.command("/rules", "add_rule", AddRule, Sentence)
router.command("/rules/{id}", "remove_rule", RemoveRule, None, method="DELETE")


def _standing(journal: Journal) -> tuple[Rule, ...]:
    rules: dict[str, Rule] = {}
    for event in journal.events(session=HOME):
        match event:
            case Event(body=RuleMade(rule=rule)):
                rules[rule.id] = rule
            case Event(body=RuleRemoved(id=id)):
                rules.pop(id, None)
            case _:
                continue
    return tuple(rules.values())
