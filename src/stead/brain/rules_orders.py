"""Rules for instructions that last, and for appointments.

Layer: brain. Pure. Used by ``brain.extracting`` alone. An instruction lasts when it says so: from now on, always,
never, every time. An appointment is taken in when its day can be told, and is of no use from the day after on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stead.brain.dates import DAY_MS, moment
from stead.brain.stating import Fields, bare, slug

_FROM_NOW = (
    re.compile(
        r"(?:from now on|from here on|in (?:the )?future|going forward|from today on)[,:]? (?:please )?(?P<rest>.+)",
        re.I,
    ),
    re.compile(r"(?:please )?(?P<rest>.+?),? (?:from now on|from here on|going forward|in (?:the )?future)", re.I),
)
_WHENEVER = re.compile(
    r"(?P<when>(?:whenever|every time|each time|any time|anytime) (?:you|we|i) [^,;]{3,80}), (?:please )?"
    r"(?P<rest>[a-z][^;]{3,160})",
    re.I,
)
_HOW_OFTEN = re.compile(
    r"(?:please |you (?:should|must) )?(?P<how>always|never|don't ever|do not ever|stop) (?P<rest>.+)", re.I
)
_DONT = re.compile(r"(?:please )?(?:don't|do not) (?P<rest>[a-z].+)", re.I)
_NO_ORDER = re.compile(
    r"(?:mind|ever|again|been|had|has|have|was|were|is|are|a|an|the|in|on|at|of|to|too|so|as|liked?|loved?|hated?|"
    r"wanted|thought|knew|said|welcome|fun|true|good|nice|right|wrong|works?|fails?|happens?|seems?|happy|sure|worth|"
    r"possible|easy|hard|there|here|with|for|and|or|but|by|it|this|that|not|more|less|seen|heard|gonna|going|a|"
    r"i|you|we|they|he|she|my|your|\w+ed|\w+ing)\b",
    re.I,
)
_NOBODY = re.compile(r"(?:i|you|we|he|she|they|it|the|this|that|there|my|our|your|all|nobody|everybody|no)\b", re.I)
_STOPPED = {
    "using": "use",
    "adding": "add",
    "writing": "write",
    "asking": "ask",
    "putting": "put",
    "calling": "call",
    "saying": "say",
    "sending": "send",
    "making": "make",
    "repeating": "repeat",
}
_ANSWER_IN = re.compile(
    r"(?:answer|reply|respond|write|speak|talk|explain)(?: (?:to )?me)?(?: everything)? in (?P<value>(?-i:[A-Z])\w+)",
    re.I,
)
_USE_FOR = re.compile(r"(?:use|run|take|pick|choose) (?P<value>[^,;]{1,80}?) (?:for|as) (?P<topic>[^,;]{2,80})", re.I)

_EVENTS = (
    "appointment|meeting|interview|flight|train|call|exam|deadline|wedding|party|conference|check-?up|review|launch|"
    "release|demo|surgery|operation|dinner|lunch|concert|trip|workshop|webinar|stand-?up|retrospective|presentation|"
    "delivery|inspection|viewing|rehearsal|lesson|visit|court date"
)
_BETWEEN = r"(?:(?!about |for |with |to |at |of |in |on )[\w'-]+ ){0,3}?"
_HAVE = re.compile(
    r"(?:i have|i've got|i've|i got|we have|we've got|we've|there is|there's)(?: got)? "
    rf"(?P<what>(?:an?|the|my|our) {_BETWEEN}(?:{_EVENTS})(?: (?:with|at|for|to|about|in) [^,;]{{2,60}}?)?)",
    re.I,
)
_IS_ON = re.compile(
    rf"(?P<what>(?:my|our|the) {_BETWEEN}(?:{_EVENTS})(?: (?:with|at|for|to|about|of) [^,;]{{2,60}}?)?) "
    r"(?:is|are|was moved|has moved|has been moved|got moved|moved|is moved|is now|starts|takes place|happens|leaves)"
    r"(?: (?:due|now|set|scheduled|planned|to|for|on|by|at))*",
    re.I,
)


def appointments(words: str, ts_ms: int) -> Iterator[Fields]:
    """An appointment with a day, as it was said at that moment."""
    when = moment(words, ts_ms)
    if when is None or when.end < len(words):
        return
    head = words[: when.start].strip()
    head = re.sub(r" (?:on|at|for|by)$", "", head) if _HAVE.match(head) else head
    match = _HAVE.fullmatch(head) or _IS_ON.fullmatch(head)
    if match is None:
        return
    what = re.sub(r"^(?:an?|the|my|our) ", "", match["what"], flags=re.I)
    yield {
        "kind": "knowledge",
        "text": f"{what[:1].upper()}{what[1:]}: {when.said}.",
        "key": f"event.{slug(what)}",
        "value": when.said,
        "aliases": (what.casefold(),),
        "expires_ms": when.over_ms + DAY_MS,
    }


def orders(words: str) -> Iterator[Fields]:
    """An instruction that lasts."""
    lasting, rest = False, words
    for form in _FROM_NOW:
        if match := form.fullmatch(rest):
            rest, lasting = match["rest"], True
    if match := _WHENEVER.fullmatch(rest):
        yield _order(f"{match['when']}, {match['rest']}", f"{slug(match['when'])}.{slug(match['rest'])}", "yes")
    elif match := _HOW_OFTEN.fullmatch(rest):
        yield from _how_often(match["how"], match["rest"])
    elif lasting and (match := _DONT.fullmatch(rest)):
        yield _told(match["rest"], "never", f"Never {match['rest']}")
    elif lasting and not _NOBODY.match(rest):
        yield _told(rest, "always", f"From now on, {rest[:1].lower()}{rest[1:]}")


def _how_often(how: str, rest: str) -> Iterator[Fields]:
    what = rest
    if how.casefold() == "stop":
        first, _, others = rest.partition(" ")
        if (verb := _STOPPED.get(first.casefold())) is None:
            return
        what = f"{verb} {others}"
    elif _NO_ORDER.match(rest) or len(rest.split()) < 2:
        return
    yield _told(what, "always" if how.casefold() == "always" else "never", f"{how.capitalize()} {rest}")


def _told(what: str, how: str, text: str) -> Fields:
    if match := _ANSWER_IN.fullmatch(what):
        return _order(text, "language", match["value"] if how == "always" else f"not {match['value']}")
    if how == "always" and (match := _USE_FOR.fullmatch(what)):
        return _order(text, slug(bare(match["topic"])), match["value"])
    return _order(text, slug(what), how)


def _order(text: str, topic: str, value: str) -> Fields:
    return {
        "kind": "preference",
        "text": f"{text[:1].upper()}{text[1:]}.",
        "key": f"instruction.{topic}",
        "value": value,
        "standing": True,
    }
