"""Which words of a sentence it affirms, and which it denies.

Layer: memory. Pure. No grammar: a negation denies the words of its clause, and where its clause has none, those of the
whole sentence. It errs towards denying, and whoever is misread can say it again in other words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from stead.domain.lazy_patterns import lazy_pattern
from stead.memory import grammar, words

DENIED = "\N{NOT SIGN}"
_WORDS = """
    not no nor never none nothing nobody nowhere neither without cannot hardly barely scarcely
    nicht kein keine keinen keinem keiner nie niemals nichts niemand ohne weder kaum keinesfalls keineswegs
    ne n pas jamais rien aucun aucune sans guère ni nunca tampoco
    apenas jamás nada nadie ningún ninguna sin non mai niente nessuno senza
    não nem niet geen nooit niets ikke inte aldrig не нет ни никогда ничего без
"""
_NEGATORS = frozenset(_WORDS.split())
_NEGATES = lazy_pattern(
    rf"(?<!\w)(?:{'|'.join(sorted(_NEGATORS, key=len, reverse=True))})(?!\w)|\w*n['\u2019]t(?!\w)", re.I
)
_AFFIRMS = lazy_pattern(
    r"\b(?:(?:do\s+not|don['\u2019]t|never|(?:must|should)(?:\s+not|n['\u2019]t))\s+(?:ever\s+)?(?:forget|worry|mind|hesitate)"
    r"|no\s+(?:doubt|problem|worries)|not\s+only)\b",
    re.I,
)
"""What has a negation and denies nothing of what follows."""
_INSTEAD = lazy_pattern(
    r"\b(?:instead\s+of|rather\s+than|anstatt|statt|au\s+lieu\s+d[eu']|plutôt\s+qu[e']|en\s+(?:vez|lugar)\s+de)(?!\w)",
    re.I,
)
_CONTRAST = lazy_pattern(
    r"(?<!\w)(?!(?:do|does|did|is|are|am|was|were|has|have|had|can|could|will|would|shall|should|may|might|must|need|m|s|re"
    r"|ve|ll|if|or)\s)(\w+\s+)(?=not\s+\w)",
    re.I,
)
"""What is set against something else: of "Sam not Samuel" only Samuel is denied. Otherwise a verb is before "not"."""
_STEM = 3
_CLAUSE = lazy_pattern(
    r"[,;:()\[\]\n\u2013\u2014]|\s-\s|\b(?:but|and|or|that|because|since|so|if|while|aber|sondern|und|oder|dass|weil"
    r"|mais|et|ou|que|parce|pero|sino|porque)\b",
    re.I,
)
_ANSWER = lazy_pattern(r"\W*(?:no|nope|nah|nein|non|nee|nej|não|нет)\W*", re.I)


def signed(sentence: str) -> frozenset[str]:
    """A sentence's own words, those that it denies with a mark."""
    clauses = _CLAUSE.split(_CONTRAST.sub(r"\1, ", _INSTEAD.sub(", not ", _AFFIRMS.sub(" ", sentence))))
    denied = [_NEGATES.search(clause) is not None and not _ANSWER.fullmatch(clause) for clause in clauses]
    said = [_own(clause) for clause in clauses]
    every = any(no and not some for no, some in zip(denied, said, strict=True))
    return frozenset(
        f"{DENIED}{word}" if no or every else word for no, some in zip(denied, said, strict=True) for word in some
    )


def contradicts(said: frozenset[str], wanted: frozenset[str]) -> bool:
    """Whether what was said denies a word that is wanted affirmed, or the other way round, and does not say both."""
    return any(word not in said and _turned(word) in said for word in wanted)


def kept(word: str, said: Iterable[str]) -> bool:
    """Whether a word stands among others, if with another ending: "hasse" and "hasst", never 5432 and 5433."""
    return any(word == other or _inflected(word, other) for other in said)


def _inflected(one: str, other: str) -> bool:
    pairs = enumerate(zip(one, other, strict=False))
    same = next((at for at, (here, there) in pairs if here != there), min(len(one), len(other)))
    return one.lstrip(DENIED).isalpha() and same >= max(_STEM, max(len(one), len(other)) - _STEM)


def _own(clause: str) -> frozenset[str]:
    return frozenset(words.spoken(_NEGATES.sub(" ", clause))) - grammar.FUNCTION - grammar.ROLES


def _turned(word: str) -> str:
    return word[1:] if word.startswith(DENIED) else f"{DENIED}{word}"
