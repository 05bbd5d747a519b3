"""What a person says of themselves and their work: their sentences, without what only looks like it.

Layer: brain. Pure. Leaving something out costs little, since every turn is found by its words anyway; taking in what
was not meant makes memory junk. So code, quotes, material that is handed over, questions, suppositions and reported
words are no statements, and neither is anything in a turn that plays a part or jokes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from stead.brain.handed_over import own
from stead.domain.lazy_patterns import lazy_pattern

TURN_CHARS = 20_000
"""Of a turn; what is behind them was pasted."""
SENTENCE_CHARS = 400
LEAD = lazy_pattern(
    r"^\s*(?:(?:hi|hello|hey|ok|okay|well|so|and|also|but|by the way|btw|fyi|please|pls|note|nb|remember|"
    r"keep in mind|just so you know|mind|(?:do not|don't|never) forget|for the record|oh|yes|yeah|yep|right|thanks|"
    r"thank you|great|perfect|anyway|one more thing|another thing|important|good|nice|cool)"
    r"(?: that\b)?(?:[,:;.!]+|\s+[\u2013-]+)?\s+)+",
    re.I,
)
"""What a sentence begins with before it says something."""
_CODE = lazy_pattern(
    r"[;{}]\s*$|=>|==|!=|^\s*[\w.]+\([^)]*\)\s*$|"
    r"^\s*(?:def|class|import|from|const|let|var|return|print|if \(|for \()\b.*[=(:]"
)
_PLAYED = lazy_pattern(
    r"\b(?:role-?play|pretend|imagine|make[- ]believe|let's say|lets say|suppos(?:e|ing)|hypothetical(?:ly)?|"
    r"act as|you are (?:now )?an? |in the story|in the novel|character|fictional|just kidding|kidding|joking|a joke|"
    r"sarcas\w+|lol|lmao|haha\w*|jk|"
    r"yeah,? right|oh great|just what i needed|thanks for nothing|as if i|obviously)\b|"
    r"/s$|[;:]-?[)pP](?:\s|$)|😂|🤣|😜|😉",
    re.IGNORECASE,
)
_BULLET = lazy_pattern(r"\s*(?:[-*\u2022\u2013]\s+)*")
NO_END = (
    r"(?<!\b[A-Z])(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bSt)(?<!\bProf)(?<!\bSr)(?<!\bSra)(?<!\bMme)(?<!\be\.g)"
    r"(?<!\bi\.e)(?<!\bz\.B)(?<!\bNo)"
)
"""Before a full stop that ends an abbreviation and no sentence."""
_END = lazy_pattern(rf"{NO_END}[.!?]+(?=\s|$)|\n+")
END = lazy_pattern(rf"{NO_END}[.!?]+(?=\s|$)|[\u3002\uff01\uff1f\u0964\u06d4]|\n+(?![^\S\n]*[^\W\d_A-ZÀ-Þ])")
"""The same in other scripts; a line that goes on in small letters goes on with its sentence."""
_QUESTION = lazy_pattern(
    r"^\W*(?:what|how|why|who|whom|whose|which|when|where|can|could|would|will|shall|should|is|are|was|were|am|do|does|"
    r"did|has|have you|may|might|any idea|anyone)\b",
    re.IGNORECASE,
)
_SUPPOSED = lazy_pattern(
    r"\b(?:if|unless|whether|would|could|might|(?<!\d )(?<!th )(?<!of )(?<!in )may(?! \d)|maybe|perhaps|possibly|"
    r"probably|i think|i guess|i suppose|i wonder|not sure|i believe|i assume|apparently|supposedly|i wish|i hope|"
    r"hopefully|ideally|as though|as if|sort of|kind of|let me|used to|as a child|back then|for example|for instance|"
    r"e\.g|say,|what about)\b",
    re.IGNORECASE,
)
_REPORTED = lazy_pattern(
    r"\b(?:said|says|say|told|tells|wrote|writes|claims?|claimed|argues?|according to|quote|asked me|asks|suggests?|"
    r"suggested|mentioned|states?|stated|thinks|thought|believes|heard|"
    r"(?<!\bin )(?<!\bof )(?<!\bto )(?<!\bfor )the (?:article|mail|email|page|readme|docs?|"
    r"documentation|manual|book|error|log|issue|comment|customer|user|client|author|candidate|vendor|ticket)"
    r"(?! (?:server|host|form|template|folder|directory|files?|branch|table))(?=\W+\w))\b",
    re.IGNORECASE,
)
_WISHED = lazy_pattern(r"\bwould (?:like|prefer|love|rather|appreciate)\b", re.IGNORECASE)
"""What says politely what a person wants."""
_HEDGED = lazy_pattern(
    r"\b(?:assum\w+|provided|in case|as long as|rumou?r|(?:was|were|been) told|wenn|falls|sofern|solange|ob|vielleicht|"
    r"angeblich|laut|si|selon|d['\u2019]apr\u00e8s|peut-\u00eatre|seg\u00fan|quiz\u00e1s?|tal vez|ojal\u00e1)\b",
    re.IGNORECASE,
)
_FOR_NOW = lazy_pattern(
    r"\b(?:for now|for the moment|right now|this time|just once|only once|for once|temporarily|today only|"
    r"in this (?:session|chat|conversation|case|task|turn|test|example|reply|answer)|at the moment|"
    r"for this (?:session|chat|conversation|task|one|turn|test|change|fix|pr|commit|reply|answer)|"
    r"until (?:then|tomorrow|tonight|later))\b",
    re.IGNORECASE,
)


class Sentence(msgspec.Struct, frozen=True):
    """One sentence: its position in the turn, in characters, and its words without the final mark."""

    start: int
    end: int
    text: str


def stated(text: str) -> Iterator[Sentence]:
    """The sentences of a person's turn that state something in their own name."""
    kept = own(text[:TURN_CHARS])
    if _PLAYED.search(kept):
        return
    for sentence in _sentences(kept):
        words = sentence.text
        if not 3 <= len(words) <= SENTENCE_CHARS or kept[sentence.end - 1 : sentence.end] == "?":
            continue
        if "\0" in words or _CODE.search(words) or _QUESTION.search(words):
            continue
        if _SUPPOSED.search(words) or _REPORTED.search(words):
            continue
        yield sentence


def is_played(text: str) -> bool:
    """Whether a turn plays a part or jokes, so that nothing in it is meant."""
    return _PLAYED.search(text) is not None


def hedges(words: str) -> frozenset[str]:
    """What makes a sentence a supposition or the report of what another one says, in small letters."""
    plain = _WISHED.sub(" ", words)
    found = (match[0].casefold() for form in (_SUPPOSED, _REPORTED, _HEDGED) for match in form.finditer(plain))
    return frozenset(found)


def for_now(text: str) -> bool:
    """Whether a sentence is about the present work alone."""
    return bool(_FOR_NOW.search(text))


def own_words(text: str) -> str:
    """A turn without what is not the person's own: code, quotes, and what is handed over."""
    return " ".join(own(text[:TURN_CHARS]).replace("\0", " ").split())


def others_blank(text: str) -> str:
    """A turn of the same length with blanks where its words are not the person's own."""
    return own(text[:TURN_CHARS]).replace("\0", " ") + " " * (len(text) - TURN_CHARS)


def _sentences(text: str) -> Iterator[Sentence]:
    start = 0
    for match in (*_END.finditer(text), None):
        end = match.end() if match else len(text)
        last = match.start() if match else len(text)
        piece = text[start:last]
        bullet = _BULLET.match(piece)
        first = start + (bullet.end() if bullet else 0)
        words = text[first:last].rstrip()
        if words:
            mark = text[last : last + 1].strip()
            yield Sentence(first, first + len(words) + len(mark), " ".join(words.split()))
        start = end
