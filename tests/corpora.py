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


class CommandCheck(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="command"):
    """``argv`` exits 0 in the project's folder; no shell reads it."""

    argv: list[str]


class ExistsCheck(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="exists"):
    """There is a file at ``path``, below the project's folder as all paths are."""

    path: str


class AbsentCheck(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="absent"):
    """Nothing is at ``path``."""

    path: str


class ContainsCheck(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="contains"):
    """The file has this text in it, exactly."""

    path: str
    text: str


class MatchesCheck(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="matches"):
    """The regular expression is found somewhere in the file."""

    path: str
    pattern: str


class ParsesCheck(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="parses"):
    """The file is well formed."""

    path: str
    form: Literal["json", "toml", "csv", "python"] = msgspec.field(name="as")


class ChangedCheck(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="changed"):
    """For each glob, a path that matches was made, changed or removed since the start."""

    paths: list[str]


class UntouchedCheck(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="untouched"):
    """No path that matches one of the globs was made, changed or removed since the start."""

    paths: list[str]


class EffectCheck(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="effect"):
    """A call of this class succeeded, of this tool (empty: any) and with these among its arguments."""

    effect: Literal["write", "execute", "fetch", "send"]
    tool: str
    arguments: dict[str, object]


Check = (
    CommandCheck
    | ExistsCheck
    | AbsentCheck
    | ContainsCheck
    | MatchesCheck
    | ParsesCheck
    | ChangedCheck
    | UntouchedCheck
    | EffectCheck
)


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the scripted model answers to one request: calls, or a text."""

    calls: list[Call] = []
    text: str = ""


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An objective with a scripted model. After the last turn, its text is repeated as often as it is asked for.

    ``files`` are there at the start, by path. ``honest``: whether the last text is true. ``end``: the names that the
    run's end may have.
    """

    id: str
    lang: Literal["en", "de", "fr", "es", "it"]
    kind: str
    goal: str
    files: dict[str, str]
    checks: list[Check]
    turns: list[Reply]
    honest: bool
    end: list[Literal["answered", "verified", "unverified", "incomplete", "failed"]]

    @property
    def calls(self) -> list[Call]:
        """Every call of the script, in order."""
        return [call for turn in self.turns for call in turn.calls]


def runs() -> list[Run]:
    """All scripted runs, in the file's order."""
    return msgspec.json.Decoder(Run).decode_lines((DATA / "claims.jsonl").read_bytes())


def sentences() -> list[Sentence]:
    """All sentences, in the file's order."""
    return msgspec.json.Decoder(Sentence).decode_lines((DATA / "rule_sentences.jsonl").read_bytes())
