"""Commands made from the corpus by chance: edits, splices, quotes, wrappers, odd characters, cuts. Seeded."""

from __future__ import annotations

import json
import random
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from stead.domain.policies import Risk

CORPUS = Path(__file__).parent / "shell_corpus"
_SIGNS = " ;|&$`'\"\\<>(){}*?[]!#~-=/.,:@%^+\n\t\r\0"
_ODD = "\u00a0\u200b\u202e\u2028\u3000\u0441\u00e9\uff1b\ufeff\U0001f600\ud800"
_GLUE = (" ", ";", " && ", " || ", " | ", "\n", " & ", "|", "&&", " #", "\\\n", "")
_WRAPPERS = (
    "sh -c {q}",
    "bash -c {q}",
    "sudo {c}",
    "env {c}",
    "timeout 5 {c}",
    "nice {c}",
    "ls | xargs {c}",
    "command {c}",
)
_WRAPS = (
    *_WRAPPERS,
    "echo $({c})",
    "echo `{c}`",
    "({c})",
    "{{ {c}; }}",
    "! {c}",
    "time {c}",
    "eval {q}",
    "cat <({c})",
    "{c} &",
)


@dataclass(frozen=True)
class Sample:
    """A command of the corpus and the least risk that it must be given; for ``low`` exactly this."""

    command: str
    risk: Risk
    note: str


def load(name: str) -> list[Sample]:
    """One file of the corpus."""
    rows = [json.loads(line) for line in (CORPUS / f"{name}.jsonl").read_text("utf-8").splitlines()]
    return [Sample(row["command"], Risk(row["risk"]), row["note"]) for row in rows]


def mutants(samples: Sequence[Sample], count: int, seed: int) -> Iterator[str]:
    """Commands near to these, without end of variety but always the same for a seed."""
    chance = random.Random(seed)
    texts = [sample.command for sample in samples]
    for _ in range(count):
        text = chance.choice(texts)
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            text = chance.choice(_WAYS)(text, texts, chance)
        yield text


def _drop(text: str, texts: Sequence[str], chance: random.Random) -> str:
    start = chance.randrange(len(text) + 1)
    return text[:start] + text[start + chance.choice((1, 1, 2, 5)) :]


def _insert(text: str, texts: Sequence[str], chance: random.Random) -> str:
    place = chance.randrange(len(text) + 1)
    return text[:place] + chance.choice(_SIGNS) + text[place:]


def _odd(text: str, texts: Sequence[str], chance: random.Random) -> str:
    place = chance.randrange(len(text) + 1)
    return text[:place] + chance.choice(_ODD) + text[place:]


def _swap(text: str, texts: Sequence[str], chance: random.Random) -> str:
    words = text.split(" ")
    chance.shuffle(words)
    return " ".join(words)


def _splice(text: str, texts: Sequence[str], chance: random.Random) -> str:
    other = chance.choice(texts)
    return text[: chance.randrange(len(text) + 1)] + chance.choice(_GLUE) + other[chance.randrange(len(other) + 1) :]


def _join(text: str, texts: Sequence[str], chance: random.Random) -> str:
    return text + chance.choice(_GLUE) + chance.choice(texts)


def _quote(text: str, texts: Sequence[str], chance: random.Random) -> str:
    start = chance.randrange(len(text) + 1)
    end = chance.randint(start, len(text))
    mark = chance.choice(("'", '"', "''", '""', "$'", '$"', "\\"))
    return text[:start] + mark + text[start:end] + mark[-1] + text[end:]


def _wrap(text: str, texts: Sequence[str], chance: random.Random) -> str:
    return chance.choice(_WRAPS).format(c=text, q=shlex.quote(text))


def _cut(text: str, texts: Sequence[str], chance: random.Random) -> str:
    return text[: chance.randrange(len(text) + 1)]


def _case(text: str, texts: Sequence[str], chance: random.Random) -> str:
    place = chance.randrange(len(text) + 1)
    return text[:place] + text[place : place + 1].swapcase() + text[place + 1 :]


_WAYS: tuple[Callable[[str, Sequence[str], random.Random], str], ...] = (
    *(_drop, _insert, _insert, _odd, _swap, _splice, _splice, _join, _quote, _quote, _wrap, _cut, _case),
)
