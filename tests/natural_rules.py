"""The sentences of ``tests/corpora.py``, read by the product: as what, and which calls their rules then speak of.

Shared by a test and a benchmark.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from stead.brain.rule_sentences.grammar import Refused, read
from stead.domain.policies import Condition as ProductCondition
from stead.domain.policies import Confidentiality, Rule
from stead.domain.tools import Declaration, Role, ToolEffect, ToolSpec, acting
from stead.guardian import rules
from stead.guardian.reach import Reach
from stead.guardian.shell import assess
from tests.corpora import Call, Condition, Sentence, sentences
from tests.test_corpora import TOOLS

_BROUGHT = {
    "send_mail": Declaration(
        ToolEffect.SEND,
        authority_args=("to",),
        content_args=("subject", "body"),
        roles={"to": Role.RECIPIENT},
        sensitivity=Confidentiality.PUBLIC,
    ),
    "pay": Declaration(
        ToolEffect.SEND,
        authority_args=("account", "amount", "to"),
        roles={"to": Role.RECIPIENT, "amount": Role.AMOUNT, "account": Role.OWN_ACCOUNT},
    ),
}
"""Tools that no shipped one stands for."""


_YES = 2
"""What ``guardian.rules.speaks`` says of a call that a rule surely speaks of."""


class Reading(NamedTuple):
    """A sentence, the rule that the product makes of it (none where it refuses), and in what that differs."""

    sentence: Sentence
    rule: Rule | None
    wrong: str


def readings() -> list[Reading]:
    """Every sentence, read."""
    return [_read(sentence) for sentence in sentences()]


def _read(sentence: Sentence) -> Reading:
    rule = read(sentence.text)
    if isinstance(rule, Refused):
        return Reading(sentence, None, "")
    meaning = sentence.meaning
    if meaning is None:
        return Reading(sentence, rule, "it has no meaning that a rule can say")
    if (rule.decision, {*rule.what}, {*rule.tools}) != (meaning.decision, {*meaning.what}, {*meaning.tools}):
        return Reading(sentence, rule, "another decision, class or tool")
    if sorted(map(_plain, rule.where)) != sorted(map(_plain, meaning.where)):
        return Reading(sentence, rule, "another place")
    caught = [call for call in sentence.caught if not _speaks(rule, call)]
    free = [call for call in sentence.free if _speaks(rule, call) == _YES]
    return Reading(sentence, rule, f"{caught or free}" if caught or free else "")


def _plain(condition: Condition | ProductCondition) -> tuple[str, str, tuple[str, ...]]:
    return condition.role, condition.side, tuple(sorted(condition.values))


def _speaks(rule: Rule, call: Call) -> int:
    tool = TOOLS.get(call.tool)
    if call.tool in _BROUGHT:
        spec = ToolSpec(call.tool, "", {}, _BROUGHT[call.tool])
        arguments = call.arguments
    else:
        assert tool is not None
        spec, arguments = tool.spec, dict(tool.parse(json.dumps(call.arguments)))
    declaration = acting(spec.declaration, arguments)
    lines = [str(arguments[name]) for name in declaration.command_args if name in arguments]
    shell = assess("\n".join(lines)) if lines else None
    return rules.speaks(rule, spec, rules.touched(declaration, arguments, shell, Reach()))
