"""A model server that counts as a vendor does, and what its requests have in common with the ones before.

For flows. It takes a request only if the prompt and the reply's room fit the window, counts four bytes of the prompt as
a token, and has in its cache whatever any request before began with. So its counts are true, come out at half of
Stead's own upper bound or below, and are what the context view is held against.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from tests.fakes.models import Call, Seen, ServedModel, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import served

BYTES_PER_TOKEN = 4
WINDOWS = {"compatible": 32_768, "anthropic": 200_000}
"""What Stead takes for the window of a model that it knows nothing of, by the provider's preset."""
PLACEHOLDER = b"[trimmed; `history` has it]"
SUMMARY_WANTED = "Write a summary"
PATIENT = {"iterations": 1000, "stall": 100, "repetition": 100}
UNLIMITED = {"tokens": "unlimited", "usd_micros": "unlimited"}


@dataclass
class Counting:
    """The script of such a server.

    Args:
        reply: what the model says; usage is put in here.
        window: in tokens, the reply's included.
        bytes_per_token: how it counts.
        prompts: those that it took, in order.
        counted: (input, cached) of each.
    """

    reply: Callable[[Seen], Turn]
    window: int
    bytes_per_token: int = BYTES_PER_TOKEN
    prompts: list[bytes] = field(default_factory=list)
    counted: list[tuple[int, int]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def __call__(self, seen: Seen) -> Turn:
        """Answer one request."""
        prompt = seen.prompt
        taken, room = len(prompt) // self.bytes_per_token, output_cap(seen)
        if taken + room > self.window:
            self.refused.append(f"{taken} + {room} tokens")
            return Turn(status=400, error=f"the context length is {self.window}; asked for were {self.refused[-1]}")
        cached = max((alike(prompt, before) for before in self.prompts), default=0) // self.bytes_per_token
        turn = self.reply(seen)
        said = len(turn.text) + len(turn.thinking) + sum(len(call.text) for call in turn.calls)
        self.prompts.append(prompt)
        self.counted.append((taken, cached))
        return dataclasses.replace(turn, usage=(taken, max(1, said // self.bytes_per_token), cached, 0))


@contextlib.contextmanager
def counting(
    house: LivingHome, reply: Callable[[Seen], Turn], preset: str, *, bytes_per_token: int = BYTES_PER_TOKEN
) -> Iterator[tuple[ServedModel, Counting]]:
    """A home whose model counts truthfully, on one of the wires; every request has to be one that it takes."""
    script = Counting(reply, WINDOWS[preset], bytes_per_token)
    with served(script) as model:
        use_model(house, model.anthropic if preset == "anthropic" else model.openai, preset=preset)
        if preset == "anthropic":
            house.post("/providers/acme/key", {"key": "sk-ant-invented"})
        yield model, script
        assert not model.flaws, model.flaws
        assert not script.refused, script.refused


def output_cap(seen: Seen) -> int:
    """The most that a request lets the model say, in tokens."""
    return int(seen.body.get("max_completion_tokens") or seen.body["max_tokens"])


def words_of(message: Json) -> str:
    """The text of a message on either wire, results included."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text") or words_of(block)) for block in content)


def texts_of(seen: Seen) -> str:
    """The texts of all messages of a request."""
    return "\n".join(map(words_of, seen.body["messages"]))


def wants_summary(seen: Seen) -> bool:
    """Whether a request asks for the summary, which then stands at its end."""
    return SUMMARY_WANTED in words_of(seen.body["messages"][-1])


def offered(seen: Seen) -> tuple[str, ...]:
    """The names of the tools that a request offers."""
    return tuple(str(tool.get("function", tool)["name"]) for tool in seen.body["tools"])


def reads(at: int, lines: int, *, calls: int = 1) -> Turn:
    """A reply that reads so many lines of the ledger, likewise in each of its calls; no two replies are the same."""
    pages = ({"path": "ledger.txt", "line": 1 + at + 10 * call, "lines": lines} for call in range(calls))
    return Turn(f"Page {at}.", calls=tuple(Call("read", page) for page in pages))


def ledger(project: Path, lines: int = 2_000) -> None:
    """A long file in the project."""
    line = "{number:05d} of the ledger: 12 crates of pears to pier 7, paid and signed\n"
    (project / "ledger.txt").write_text("".join(line.format(number=number) for number in range(lines)), "utf-8")


def alike(one: bytes, other: bytes) -> int:
    """How many bytes at their beginnings are the same."""
    most = min(len(one), len(other))
    if one[:most] == other[:most]:
        return most
    same, differ = 0, most
    while differ - same > 1:
        half = (same + differ) // 2
        same, differ = (half, differ) if one[:half] == other[:half] else (same, half)
    return same


@dataclass(frozen=True)
class Growth:
    """How the prompts of a session follow upon one another.

    Args:
        repeated: pairs of which the second is the first and more.
        moved: by place of the second, pairs between which the mark of trimming moved.
        compacted: likewise a summary came in.
    """

    repeated: int
    moved: tuple[int, ...]
    compacted: tuple[int, ...]


def growth(house: LivingHome, id: str, prompts: list[bytes]) -> Growth:
    """Hold each prompt of a session against the one before, with what the journal has of both.

    Raises:
        AssertionError: one does not repeat the one before as far as it must.
    """
    asked: list[tuple[int, int]] = []
    summaries = 0
    for event in house.events(id):
        kind, body = event["body"]["type"], event["body"]
        summaries += kind == "context.compacted"
        if kind == "model.requested":
            asked.append((body.get("trimmed", 0), summaries))
    assert len(asked) == len(prompts), f"{len(prompts)} requests came, {len(asked)} are in the journal"
    repeated, moved, compacted = 0, [], []
    pairs = pairwise(zip(prompts, asked, strict=True))
    for at, ((earlier, (was, old)), (later, (now, new))) in enumerate(pairs, 1):
        same = alike(earlier, later)
        if new != old:
            compacted.append(at)
            must = earlier.find(b'"role": "user"')
        elif now != was:
            assert now > was, f"the mark went back from {was} to {now}"
            moved.append(at)
            must = earlier.rfind(PLACEHOLDER) + len(PLACEHOLDER) if was else earlier.find(b'"role": "user"')
        else:
            repeated += 1
            must = len(earlier)
        assert same >= must, f"request {at} repeats {same} bytes of the one before; it has to repeat {must}"
    return Growth(repeated, tuple(moved), tuple(compacted))
