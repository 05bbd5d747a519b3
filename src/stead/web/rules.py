"""The person's standing rules: the read and the commands of them.

Layer: a door. It must not know what a rule means; a sentence goes down and a rule comes back up.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
from fastapi import APIRouter, Path
from fastapi.responses import Response

from stead.domain.commands import AddRule, Answer, RemoveRule
from stead.domain.events import Event, RuleMade, RuleRemoved
from stead.domain.ids import HOME
from stead.domain.policies import Rule
from stead.domain.ports import Journal
from stead.web.commands import Ask, Behind
from stead.web.errors import Json
from stead.web.openapi import body_of, operation
from stead.web.views import Page

router = APIRouter(generate_unique_id_function=lambda route: route.name)


class Sentence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rule in the person's words, and the folder that it holds for; "" for every one."""

    text: str
    directory: str = ""


@router.get("/rules", **operation(Page[Rule]))
async def list_rules(behind: Behind) -> Response:
    """What the person's standing rules are, and how each is understood."""
    return Json(Page(await asyncio.to_thread(_standing, behind.journal)))


@router.post("/rules", **operation(Answer, takes=Sentence))
async def add_rule(body: Annotated[Sentence, body_of(Sentence)], ask: Ask) -> Response:
    """Make a sentence a rule; refused, with the forms that are known, when it is not understood."""
    return await ask(AddRule(body.text, body.directory))


@router.delete("/rules/{id}", **operation(Answer))
async def remove_rule(id: Annotated[str, Path(pattern=r"^r_[0-9a-f]{8}$")], ask: Ask) -> Response:
    """Take a rule back."""
    return await ask(RemoveRule(id))


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
