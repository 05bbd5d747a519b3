"""A real language model that is very weak: trigrams over the words of the corpus, trained in a moment, sampled.

It makes up replies and calls of tools from pieces of what scripted models said, malformed and pointless ones included,
and says that it is done whether or not anything is. Nothing of it is scripted.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from tests import corpora
from tests.fakes.models import Call, Turn

_CALL, _TEXT, _END = "\x01", "\x02", "\x03"
_TOKEN = re.compile(r"\x01\w+|[\x02\x03]|\w+|\s+|[^\w\s]")
_LONGEST = 400
_Pair = tuple[str, str]


class WeakModel:
    """Trained on the turns of these runs. The same seed samples the same replies."""

    def __init__(self, runs: Sequence[corpora.Run], seed: int) -> None:
        self._next: dict[_Pair, Counter[str]] = defaultdict(Counter)
        self._random = random.Random(seed)
        for run in runs:
            for turn in run.turns:
                said = [f"{_CALL}{call.tool}{json.dumps(call.arguments)}" for call in turn.calls] or [_TEXT + turn.text]
                tokens = ["", "", *_TOKEN.findall("".join(said)), _END]
                for first, second, third in zip(tokens, tokens[1:], tokens[2:], strict=False):
                    self._next[first, second][third] += 1

    def reply(self) -> Turn:
        """One reply: a text, or calls whose arguments may be anything."""
        tokens = ["", ""]
        while tokens[-1] != _END and len(tokens) < _LONGEST:
            following = self._next[tokens[-2], tokens[-1]]
            tokens += self._random.choices([*following], [*following.values()])
        parts = re.split(r"\x01(\w+)", "".join(tokens).rstrip(_END))
        calls = [Call(tool, text) for tool, text in zip(parts[1::2], parts[2::2], strict=True)]
        return Turn(parts[0].lstrip(_TEXT) or ("" if calls else "Done."), calls=tuple(calls))
