"""The instructions of a prompt: Stead's own text, then the person's directives that are on.

Layer: brain. Pure and deterministic: the same directives make the same bytes, so a provider's cache holds until one of
them changes. A directive is the person's word to the model; it permits nothing and forbids nothing. A sentence of
theirs that could be a standing rule is named, so that they can make it one; that is never done for them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from stead.brain.context import INSTRUCTIONS, SESSION_INSTRUCTIONS
from stead.brain.estimate import estimate_tokens
from stead.brain.rule_sentences.grammar import understood
from stead.domain.directives import Directive, Directives, Prompt, PromptPart
from stead.domain.policies import Rule

HEADING = "What the person asks of you always:"
OFFERED = 20
"""Sentences of one directive that are offered as rules."""


def instructions(directives: Directives, directory: str, *, interactive: bool, channel: str) -> str:
    """The whole text of the instructions.

    Args:
        directives: the home's.
        directory: the session's folder.
        interactive: whether a person works in it, turn by turn.
        channel: the session's. Where others read along no directive is part of it: they could ask for its words.
    """
    return _joined(list(_parts(Directives() if channel else directives, directory, interactive=interactive)))


def prompt(directives: Directives, directory: str, *, interactive: bool) -> Prompt:
    """The instructions where nobody reads along, with the tokens of each part. Arguments as of ``instructions``."""
    parts = list(_parts(directives, directory, interactive=interactive))
    text = _joined(parts)
    return Prompt(
        tuple(
            PromptPart(
                source="directive" if directive else "core",
                id=directive.id if directive else "",
                kind=directive.kind if directive else "",
                title=directive.title if directive else "",
                text=said,
                tokens=estimate_tokens(said),
            )
            for directive, said in parts
        ),
        text,
        estimate_tokens(text),
    )


def tokens(directive: Directive) -> int:
    """At most how many tokens a directive has as a part of the instructions, on or off."""
    return estimate_tokens(_section(directive))


def could_be_rules(directive: Directive, standing: Collection[Rule]) -> tuple[Rule, ...]:
    """The sentences of a directive of behavioural rules that the guardian could keep, and does not yet."""
    if directive.kind != "behavioral_rules":
        return ()
    known = {rule.id for rule in standing}
    found: dict[str, Rule] = {}
    for sentence in _sentences(directive.text):
        rule = understood(sentence, directive.directory)
        if rule is not None and rule.id not in known:
            found[rule.id] = rule
        if len(found) == OFFERED:
            break
    return tuple(found.values())


def _parts(directives: Directives, directory: str, *, interactive: bool) -> Iterator[tuple[Directive | None, str]]:
    in_force = directives.in_force(directory)
    core = SESSION_INSTRUCTIONS if interactive else INSTRUCTIONS
    yield None, f"{core}\n\n{HEADING}" if in_force else core
    for directive in in_force:
        yield directive, _section(directive)


def _section(directive: Directive) -> str:
    return f"# {directive.title}\n{directive.text}"


def _joined(parts: list[tuple[Directive | None, str]]) -> str:
    return "\n\n".join(said for _, said in parts)


_MARK = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)]|#{1,6}|>)\s+")
_END = re.compile(r"(?<=[.!?])\s+")


def _sentences(text: str) -> Iterator[str]:
    for line in text.splitlines():
        for sentence in _END.split(_MARK.sub("", line)):
            if sentence.strip():
                yield sentence.strip()
