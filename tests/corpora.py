"""The two corpora of ``tests/data``, parsed: sentences that people say as rules, and scripted runs with their ends.

Both were written by hand before the code that they judge. A field that is not described here fails the parse.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

DATA = Path(__file__).parent / "data"


class Call(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One call of a tool, as a model makes it."""

    tool: str
    arguments: dict[str, object]


class Condition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """That a role of the arguments lies inside or outside a set.

    A call is *outside* as soon as one of its values is not in the set, *inside* as soon as one is; an allowance needs
    all of them. Commands are given by their first words and flags, amounts as closed intervals such as ``..100``.
    """

    role: Literal["host", "recipient", "path", "command", "amount", "account"]
    side: Literal["inside", "outside"]
    values: list[str]


class Meaning(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A typed rule; all conditions of ``where`` hold together. Exactly one of ``what`` and ``tools`` is given."""

    decision: Literal["deny", "ask", "allow"]
    what: list[Literal["read", "change", "delete", "run", "leave", "send"]]
    tools: list[str]
    where: list[Condition]


class Sentence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rule as a person says it.

    ``meaning`` None: no typed rule says exactly this, and the sentence must be refused. ``caught`` are calls that the
    rule must speak of, ``free`` calls that it must not.
    """

    id: str
    lang: Literal["en", "de", "fr", "es"]
    kind: Literal["plain", "inversion", "exception", "quoted", "doubled", "scope", "vague", "advice"]
    text: str
    meaning: Meaning | None
    caught: list[Call]
    free: list[Call]


def sentences() -> list[Sentence]:
    """All of them, in the file's order."""
    return msgspec.json.Decoder(Sentence).decode_lines((DATA / "rule_sentences.jsonl").read_bytes())
