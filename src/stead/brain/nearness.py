"""How near two texts are to each other, letter by letter.

Layer: brain. Pure. What it costs is bounded by the lengths alone: two texts of 4,000 letters take some milliseconds,
whatever they say. ``difflib`` takes minutes for two of a thousand letters that repeat themselves.
"""

from __future__ import annotations


def nearness(one: str, other: str) -> float:
    """Which share of two texts stands in both in the same order, from 0 to 1; 1 for two empty ones."""
    both = len(one) + len(other)
    return 2 * _shared(one, other) / both if both else 1.0


def _shared(one: str, other: str) -> int:
    """The length of the longest subsequence of both: a row of its table is one number, of one bit a letter.

    Source: H. Hyyrö, "Bit-parallel LCS-length computation revisited", 2004.
    """
    where: dict[str, int] = {}
    for place, letter in enumerate(one):
        where[letter] = where.get(letter, 0) | 1 << place
    every = row = (1 << len(one)) - 1
    for letter in other:
        hit = row & where.get(letter, 0)
        row = ((row + hit) | (row - hit)) & every
    return len(one) - row.bit_count()
