"""P2.trimming: how much of the prompts a provider still has in its cache over 100 turns that do not fit the window.

A seeded desk works through 100 requests of a person: it reads files, edits them, runs tests, and reads a file again
whenever its text is no longer in the context. So a way of keeping the context small pays for what it forgets. Files are
this repository's own. The same desk works three times: by ``brain.trimming``, by dropping what is oldest as soon as the
limit is passed, and by having all of it summarised. Counted in tokens of o200k_base; cached is what a request has in
common with the one before it, in whole messages from the start. A summary of everything makes for the smallest prompts
and the most files read again; what else it forgets costs nothing here.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Protocol

import msgspec
import tiktoken

from bench.bar import Bar
from bench.estimate_bound import vocabulary
from bench.p01_prompt import NODE, install
from stead.brain import compaction, trimming
from stead.brain.estimate import estimate_message, estimate_request
from stead.domain.ids import CallKey
from stead.domain.messages import (
    AssistantMessage,
    Message,
    ResultsMessage,
    Text,
    ToolCall,
    ToolResult,
    UserMessage,
)
from stead.domain.policies import Label
from stead.domain.sessions import PERSON, STEAD
from tests.brain.conversations import session_of, shown, weigh
from tests.build import TOOLS

TURNS = 100
WINDOW = 200_000
REPLY = 8_192
LIMIT = WINDOW * trimming.FULL_PERCENT // 100 - REPLY
FIXED = 1_500
"""Tokens of instructions and tools, the same in every request."""
SEEDS = (1, 2, 3)
FILES = 80
SUMMARY_WORDS = 700
CACHED_PRICE, FRESH_PRICE = 0.1, 1.25
"""Of a token of input, as Anthropic prices what its cache has and what is written to it."""


def measure() -> list[Bar]:
    """The desk with each way, over all seeds."""
    install()
    meters = {name: [_work(make(), seed) for seed in SEEDS] for name, make in _WAYS.items()}
    share = {name: 100 * _sum(m, "cached") / _sum(m, "tokens") for name, m in meters.items()}
    cost = {name: sum(meter.cost for meter in m) for name, m in meters.items()}
    ours = "trimming"
    beside = {name: round(figure, 1) for name, figure in share.items() if name != ours}
    said = "; ".join(
        f"{name}: {_sum(m, 'requests')} requests, {_sum(m, 'read_again')} of {_sum(m, 'reads')} reads again, "
        f"{_sum(m, 'tokens') / 1e6:.1f} M tokens in, cost {cost[name] / cost[ours]:.2f} of ours"
        for name, m in meters.items()
    )
    conditions = f"{TURNS} turns, {len(SEEDS)} seeds, window {WINDOW}, o200k_base; {said}"
    return [Bar("P2.trimming", share[ours], "% of prompt tokens cached", "≥ 95", share[ours] >= 95, beside, conditions)]


@dataclass
class Meter:
    """What was sent, and what of it a provider had."""

    tokens: int = 0
    cached: int = 0
    requests: int = 0
    reads: int = 0
    read_again: int = 0
    last: tuple[Message, ...] = ()

    def send(self, messages: tuple[Message, ...]) -> int:
        """Count a request; gives its tokens."""
        common = 0
        for before, now in zip(self.last, messages, strict=False):
            if before is not now and before != now:
                break
            common += _tokens(now)
        total = FIXED + sum(map(_tokens, messages))
        self.tokens += total
        self.cached += common + (FIXED if self.requests else 0)
        self.requests += 1
        self.last = messages
        return total

    @property
    def cost(self) -> float:
        """Of all input, in prices of a token."""
        return self.cached * CACHED_PRICE + (self.tokens - self.cached) * FRESH_PRICE


class Way(Protocol):
    """A way of keeping the context within the window."""

    messages: list[Message]

    def send(self, meter: Meter) -> None:
        """Send the next request, and before it one for a summary if it is due."""
        ...


@dataclass
class Trimming:
    """``brain.trimming`` and ``brain.compaction``, as the loop calls them."""

    messages: list[Message] = field(default_factory=list)
    mark: int = 0
    counted: int = 0
    seen: int = 0

    def send(self, meter: Meter) -> None:
        """See ``Way``."""
        session = session_of(self.messages, trimmed=self.mark, measured=self.seen, measured_tokens=self.counted)
        bound = (self.counted or estimate_request("", TOOLS, ())) + sum(
            map(estimate_message, shown(self.messages, self.mark)[self.seen :])
        )
        match trimming.reduce(session, weigh(session, TOOLS), bound=bound, reply=REPLY, window=WINDOW):
            case trimming.Trim(upto=upto):
                self.mark = upto
            case trimming.Compact(upto=upto):
                question = UserMessage(compaction.REQUEST, STEAD, notice=True)
                meter.send((*shown(self.messages, self.mark), question))
                head = compaction.compacted(session, upto, _summary(), compaction.room_chars(WINDOW))
                self.messages, self.mark = [*head, *self.messages[upto:]], 0
            case None:
                pass
        sent = shown(self.messages, self.mark)
        self.counted, self.seen = meter.send(sent), len(self.messages)


@dataclass
class DropOldest:
    """Leave out whole exchanges from the start, as few as needed; the first words stay."""

    messages: list[Message] = field(default_factory=list)
    dropped: int = 1

    def send(self, meter: Meter) -> None:
        """See ``Way``."""
        left = FIXED + sum(map(_tokens, [self.messages[0], *self.messages[self.dropped :]]))
        while left > LIMIT:
            left -= _tokens(self.messages[self.dropped])
            self.dropped += 1
            while isinstance(self.messages[self.dropped], ResultsMessage):
                left -= _tokens(self.messages[self.dropped])
                self.dropped += 1
        meter.send((self.messages[0], *self.messages[self.dropped :]))


@dataclass
class SummariseAll:
    """Have everything summarised, and go on from the summary and the exchange under way."""

    messages: list[Message] = field(default_factory=list)

    def send(self, meter: Meter) -> None:
        """See ``Way``."""
        if FIXED + sum(map(_tokens, self.messages)) > LIMIT:
            meter.send((*self.messages, UserMessage(compaction.REQUEST, STEAD, notice=True)))
            last = max(at for at, message in enumerate(self.messages) if isinstance(message, UserMessage))
            asked = self.messages[last:] if last else []
            self.messages = [UserMessage(_summary(), STEAD, notice=True), *asked[:1], *asked[-2:]]
        meter.send(tuple(self.messages))


_WAYS: dict[str, type[Trimming] | type[DropOldest] | type[SummariseAll]] = {
    "trimming": Trimming,
    "drop oldest": DropOldest,
    "summarise all": SummariseAll,
}


def _work(way: Way, seed: int) -> Meter:
    """A hundred turns at the desk. Chance decides what is asked, and never looks at the way."""
    meter, files, known = Meter(), _files(), set[str]()
    chance = random.Random(seed)
    recent = chance.sample(sorted(files), 5)
    for turn in range(TURNS):
        asked = random.Random(f"{seed} {turn}")
        way.messages.append(UserMessage(f"Turn {turn}: {_words(asked, 30)}", PERSON))
        for _ in range(asked.randint(1, 3)):
            path = asked.choice(recent) if asked.random() < 0.7 else asked.choice(sorted(files))
            recent = [*(other for other in recent if other != path), path][-5:]
            _change(way, meter, asked, path, files[path], known)
        way.send(meter)
        way.messages.append(AssistantMessage((Text(_words(asked, 80)),)))
    return meter


def _change(way: Way, meter: Meter, chance: random.Random, path: str, text: str, known: set[str]) -> None:
    """Read a file unless it is in the context, edit it, run the tests, now and then once more."""
    lines = text.splitlines()
    if chance.random() < 0.4:
        _call(way, meter, "grep", {"pattern": _words(chance, 1)}, "\n".join(chance.choices(lines, k=25)))
    if not _visible(way, text):
        meter.reads += 1
        meter.read_again += path in known
        known.add(path)
        _call(way, meter, "read", {"path": path}, text)
    for _ in range(1 if chance.random() < 0.7 else 2):
        at = chance.randrange(max(1, len(lines) - 12))
        old, new = "\n".join(lines[at : at + 8]), "\n".join([*lines[at : at + 4], f"# {_words(chance, 40)}"])
        diff = "\n".join([f"-{line}" for line in old.splitlines()] + [f"+{line}" for line in new.splitlines()])
        _call(way, meter, "edit", {"path": path, "old": old, "new": new}, diff)
        output = "\n".join(f"tests/test_{_words(chance, 1)}.py::test_{n} PASSED" for n in range(chance.randint(10, 90)))
        _call(way, meter, "shell", {"command": "pytest -q"}, output)


def _visible(way: Way, text: str) -> bool:
    mark = way.mark if isinstance(way, Trimming) else 0
    held = way.messages if not isinstance(way, DropOldest) else way.messages[way.dropped :]
    return any(
        result.text is text
        for message in held[mark:]
        if isinstance(message, ResultsMessage)
        for result in message.results
    )


def _call(way: Way, meter: Meter, tool: str, arguments: dict[str, str], text: str) -> None:
    way.send(meter)
    key = CallKey(f"call_{meter.requests}_0")
    said = AssistantMessage((Text(f"I {tool}."), ToolCall(key, tool, msgspec.json.encode(arguments).decode())))
    way.messages += [said, ResultsMessage((ToolResult(key, tool, text, Label(), source="workspace"),))]


@cache
def _files() -> dict[str, str]:
    """Some of the repository's own, cut as the tool that reads cuts them."""
    paths = [path for path in sorted(Path().glob("src/stead/**/*.py")) if path.stat().st_size > 2_000]
    chosen = random.Random(0).sample(paths, FILES)
    return {str(path): "\n".join(path.read_text("utf-8").splitlines()[:400]) for path in chosen}


@cache
def _encoding() -> tiktoken.Encoding:
    name = "o200k_base"
    return vocabulary(NODE / "node_modules" / "js-tiktoken" / "dist" / "ranks" / f"{name}.js", name)


@cache
def _tokens(message: Message) -> int:
    """Of a message on the wire, with what frames it."""
    return sum(8 + len(_encoding().encode_ordinary(text)) for text in _texts(message))


def _texts(message: Message) -> Iterator[str]:
    match message:
        case UserMessage(text=text):
            yield text
        case AssistantMessage(parts=parts):
            for part in parts:
                yield f"{part.tool} {part.arguments}" if isinstance(part, ToolCall) else part.text
        case ResultsMessage(results=results):
            yield from (result.text for result in results)


@cache
def _summary() -> str:
    return _words(random.Random(7), SUMMARY_WORDS)


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(_vocabulary(), k=count))


@cache
def _vocabulary() -> Sequence[str]:
    return sorted({word for text in _files().values() for word in text.split() if word.isalpha() and len(word) > 3})


def _sum(meters: Sequence[Meter], name: str) -> int:
    return sum(getattr(meter, name) for meter in meters)
