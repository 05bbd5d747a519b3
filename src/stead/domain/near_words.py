"""Finding what says nearly the same: most of the words, near each other, each with a letter or two of difference.

Layer: domain. For previews: what is found here is shown, and forgotten as it stands there if the person says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stead.domain.errors import InvalidRequest

MOST_WORDS = 20
_SHARE = 0.6
_SLACK = 3
"""Words that may stand in between."""
_WORD = re.compile(r"[^\W_]+")


class Near:
    """Looks for something that was said in about these words.

    Args:
        wanted: 1 to 20 words, one of which has three letters.

    Raises:
        InvalidRequest: it has fewer, or more.
    """

    def __init__(self, wanted: str) -> None:
        self._wanted = tuple(dict.fromkeys(match[0].casefold() for match in _WORD.finditer(wanted)))
        if not 0 < len(self._wanted) <= MOST_WORDS or max(map(len, self._wanted)) < 3:
            raise InvalidRequest(f"give 1 to {MOST_WORDS} words of what is to be found, one of them of three letters")
        count = len(self._wanted)
        self._least = count if count < 3 else max(2, round(count * _SHARE))
        self._reach = count + _SLACK
        self._known: dict[str, str] = {}
        """What each word that was met stands for; "" for none of those that are wanted."""

    def found(self, text: str) -> Iterator[str]:
        """The passages of a text that match, as written there."""
        met = [
            (place, meant, match)
            for place, match in enumerate(_WORD.finditer(text))
            if (meant := self._meant(match[0].casefold()))
        ]
        at = 0
        while at < len(met):
            run = [one for one in met[at : at + self._reach] if one[0] < met[at][0] + self._reach]
            if len({meant for _, meant, _ in run}) >= self._least:
                yield text[run[0][2].start() : run[-1][2].end()]
                at += len(run)
            else:
                at += 1

    def _meant(self, word: str) -> str:
        if word not in self._known:
            self._known[word] = next((one for one in self._wanted if _alike(one, word)), "")
        return self._known[word]


def _alike(one: str, other: str) -> bool:
    """Equal, or a letter apart in words of four, two in words of eight."""
    most = 2 if len(one) >= 8 else 1 if len(one) >= 4 else 0
    if one == other or abs(len(one) - len(other)) > most or not most:
        return one == other
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        before, row = row, [at]
        for place, against in enumerate(other, 1):
            row.append(min(before[place] + 1, row[-1] + 1, before[place - 1] + (letter != against)))
    return row[-1] <= most
