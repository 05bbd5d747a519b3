"""Whether the person asserts what a statement says, judged by the whole sentence and not by the words that are quoted.

Layer: memory. Pure. A model that quotes a fragment leaves out what turns it round: "I no longer | work at Siemens",
"if | I move to Bergen", "she said | I am allergic to nuts", "my brother's wife is | allergic to nuts". So the fragment
is put back into its sentence, and the statement has to keep what the sentence says of it:

- the sentence is no question, and nothing in quotation marks or of a part that is played;
- what it denies is denied, what it affirms affirmed (``polarity``);
- what makes it a supposition or somebody's report ("if", "maybe", "said") stands in the statement, too;
- whoever or whatever its clause is about is named in the statement, unless that is the speaker;
- of the clause no word is left out before the fragment.

The last two know a clause by its boundaries and the small words of grammar alone (English, German, French, Spanish).
Where they misread one, something true is not noted, and can still be found by its words.
"""

from __future__ import annotations

import re

from stead.brain.handed_over import VERBS
from stead.brain.sentences import END, LEAD, hedges, is_played
from stead.domain.lazy_patterns import lazy_pattern
from stead.memory import grammar, words
from stead.memory.polarity import contradicts, kept, signed

_ASKS = lazy_pattern(
    r"\?(?![\w=&])|[\uff1f\u061f]"
    r"|^\W*(?:(?:what|how|why|who|whom|whose|which|when|where)\W+)?"
    r"(?:is|are|am|was|were|do|does|did|has|have|had|can|could|will|would|shall|should|may|might)\W+"
    r"(?:i|you|we|he|she|it|they|there|this|that|these|those|the|my|our|your|his|her|their|any\w*|some\w+)\b",
    re.I,
)
"""A question mark that is none of an address, or a verb before its subject."""
_QUOTED = lazy_pattern(
    r"\"[^\"\n]+\"|[\u201c\u201e][^\u201c\u201d\n]+[\u201c\u201d]|«[^»\n]+»|\u2039[^\u203a\n]+\u203a|\u300c[^\u300d\n]+\u300d"
    r"|`[^`\n]+`|(?<!\w)['\u2018\u201a][^\n]{1,400}?['\u2018\u2019](?!\w)"
)
_CLAUSE = lazy_pattern(
    r"[,;:()\[\]\u2013\u2014]|\s-\s|\b(?:and|but|or|so|because|since|und|oder|aber|sondern|weil|denn|et|mais|ou|y|o"
    r"|pero|sino|porque)\b",
    re.I,
)
_SMALL = grammar.FUNCTION | words.SMALL_TALK
_VERB = lazy_pattern(rf"(?:{VERBS})\b", re.I)
_FRAME_WORDS = 3
_LATIN = lazy_pattern("[a-zà-ÿ]", re.I)
_MOST = 0.6
"""Of a sentence has to stand in the statement where nothing of its grammar is known."""
_WORD = lazy_pattern(r"[^\W_]+")
_DAY = lazy_pattern(r"\b\d{4}-\d\d-\d\d\b")
"""A day that a model has worked out."""
_NAME_CHARS = 3


def asserts(text: str, start: int, end: int, statement: str) -> bool:
    """Whether the person asserts a statement with these words of a turn of theirs.

    Args:
        text: the turn.
        start: of the words, in characters.
        end: behind them.
        statement: see above.
    """
    first, last = sentence(text, start, end)
    whole = text[first:last]
    if is_played(text) or _ASKS.search(whole) or not hedges(whole) <= hedges(statement):
        return False
    if any(match.start() <= start and end <= match.end() for match in _QUOTED.finditer(text)):
        return False
    if contradicts(signed(whole), signed(statement)) or _invents(statement, text):
        return False
    lead = LEAD.match(whole)
    return _is_about_it(whole, lead.end() if lead else 0, start - first, end - first, text[:first], statement)


def _invents(statement: str, text: str) -> bool:
    """Whether a statement has a figure or a name within it that the turn has not."""
    there = [word.casefold() for word in _WORD.findall(text)]
    _, _, rest = _DAY.sub(" ", statement).strip().partition(" ")
    named = (word.casefold() for word in _WORD.findall(rest) if word[0].isupper() or word.isdecimal())
    return any(not any(_is_same(word, other) for other in there) for word in named if word not in grammar.ROLES)


def _is_same(name: str, other: str) -> bool:
    """Whether two names are one, if with an ending: "Pilz" and "Pilze", not "Berg" and "Bern"."""
    short, long = sorted((name, other), key=len)
    return name == other or (name.isalpha() and len(short) >= _NAME_CHARS and long.startswith(short))


def sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the sentences begin and end that have these words; a line that goes on in small letters is no end."""
    while start < end and text[start].isspace():
        start += 1
    ends = [match.end() for match in END.finditer(text)]
    first = max((at for at in ends if at <= start), default=0)
    return first, min((at for at in ends if at >= end), default=len(text))


def _is_about_it(whole: str, lead: int, start: int, end: int, before: str, statement: str) -> bool:
    """Whether the statement names what the clause of a fragment is about, and leaves nothing out before it."""
    said = _stems(statement)
    clauses = _clauses(whole, lead)
    inside = [at for at, (first, last) in enumerate(clauses) if first < end and last > start]
    if not inside:
        return False
    if not _LATIN.search(whole):
        tokens = [word for first, last in clauses for word in _tokens(whole, first, last)]
        return sum(kept(word, said) for word in tokens) > _MOST * len(tokens)
    at = max(inside, key=lambda one: (sum(kept(word, said) for word in _tokens(whole, *clauses[one])), -one))
    left_out = _tokens(whole, clauses[at][0], max(clauses[at][0], start))
    if any(word not in _SMALL and not kept(word, said) for word in left_out):
        return False
    if at and _frames(_tokens(whole, *clauses[at - 1]), said):
        return False
    while at and not _has_subject(whole, *clauses[at]):
        at -= 1
    return _names_subject(_tokens(whole, *clauses[at]), said, whole[: clauses[at][0]] + before, statement)


def _clauses(whole: str, lead: int) -> list[tuple[int, int]]:
    """Where each clause with a word begins and ends."""
    cuts = sorted(match.span() for form in (_CLAUSE, END) for match in form.finditer(whole, lead))
    bounds = zip([lead, *(end for _, end in cuts)], [*(start for start, _ in cuts), len(whole)], strict=True)
    return [(first, last) for first, last in bounds if words.words(whole[first:last])]


def _has_subject(whole: str, first: int, last: int) -> bool:
    """Whether a clause says by itself what it is about: by a pronoun, an article, or a name within the sentence."""
    tokens = _tokens(whole, first, last)
    return (
        tokens[0] in grammar.SPEAKER | grammar.OTHERS | grammar.NEUTRAL | grammar.NAMING
        or whole[first:last].lstrip()[:1].isupper()
    )


def _frames(clause: list[str], said: list[str]) -> bool:
    """Whether a clause only says who says or thinks what comes next: "Er meint," or "my doctor says,"."""
    short = 1 < len(clause) <= _FRAME_WORDS and clause[0] in grammar.OTHERS | grammar.NAMING
    return short and not any(kept(word, said) for word in clause)


def _names_subject(clause: list[str], said: list[str], before: str, statement: str) -> bool:
    """Whether a statement is about what a clause is about."""
    if clause[0] in grammar.OTHERS:
        own = [word for word in words.words(statement) if word not in _SMALL]
        return words.words(statement)[0] in grammar.OTHERS or bool(own and kept(own[0], _stems(before)))
    if clause[0] not in grammar.NAMING and not grammar.SPEAKER.isdisjoint(clause):
        return True
    if clause[0] in grammar.NEUTRAL or _VERB.match(clause[0]):
        return True
    run: list[str] = []
    for word in clause:
        if word not in _SMALL:
            run.append(word)
        elif run:
            return any(kept(one, said) for one in (run if word in grammar.IS else run[:1]))
    return not run or kept(run[0], said)


def _tokens(text: str, start: int, end: int) -> list[str]:
    return words.words(text[start:end])


def _stems(text: str) -> list[str]:
    return [words.singular(word) for word in words.words(text)]
