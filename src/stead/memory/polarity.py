"""Which words of a sentence it affirms, and which it denies.

Layer: memory. Pure. No grammar: a negation denies the words of its clause, and where its clause has none, those of the
whole sentence. It errs towards denying, and whoever is misread can say it again in other words.
"""

from __future__ import annotations

import re

from stead.memory import words

_DENIED = "\N{NOT SIGN}"
_WORDS = """
    not no nor never none nothing nobody nowhere neither without cannot
    nicht kein keine keinen keinem keiner nie niemals nichts niemand ohne
    ne n pas jamais rien aucun aucune sans ni nunca jamás nada nadie ningún ninguna sin non mai niente nessuno senza
    não nem niet geen nooit niets ikke inte aldrig не нет ни никогда ничего без
"""
_NEGATORS = frozenset(_WORDS.split())
_NEGATES = re.compile(
    rf"(?<!\w)(?:{'|'.join(sorted(_NEGATORS, key=len, reverse=True))})(?!\w)|\w*n['\u2019]t(?!\w)", re.I
)
_AFFIRMS = re.compile(
    r"\b(?:(?:do\s+not|don['\u2019]t|never|(?:must|should)(?:\s+not|n['\u2019]t))\s+(?:ever\s+)?(?:forget|worry|mind|hesitate)"
    r"|no\s+(?:doubt|problem|worries)|not\s+only)\b",
    re.I,
)
"""What has a negation and denies nothing of what follows."""
_CLAUSE = re.compile(
    r"[,;:()\[\]\n\u2013\u2014]|\s-\s|\b(?:but|and|or|that|because|since|so|if|while|aber|sondern|und|oder|dass|weil"
    r"|mais|et|ou|que|parce|pero|sino|porque)\b",
    re.I,
)
_ANSWER = re.compile(r"\W*(?:no|nope|nah|nein|non|nee|nej|não|нет)\W*", re.I)


def signed(sentence: str) -> frozenset[str]:
    """A sentence's own words, those that it denies with a mark."""
    clauses = _CLAUSE.split(_AFFIRMS.sub(" ", sentence))
    denied = [_NEGATES.search(clause) is not None and not _ANSWER.fullmatch(clause) for clause in clauses]
    said = [_own(clause) for clause in clauses]
    every = any(no and not some for no, some in zip(denied, said, strict=True))
    return frozenset(
        f"{_DENIED}{word}" if no or every else word for no, some in zip(denied, said, strict=True) for word in some
    )


def contradicts(said: frozenset[str], wanted: frozenset[str]) -> bool:
    """Whether what was said denies a word that is wanted affirmed, or the other way round, and does not say both."""
    return any(word not in said and _turned(word) in said for word in wanted)


def _own(clause: str) -> frozenset[str]:
    return frozenset(words.spoken(_NEGATES.sub(" ", clause))) - words.STOP


def _turned(word: str) -> str:
    return word[1:] if word.startswith(_DENIED) else f"{_DENIED}{word}"
