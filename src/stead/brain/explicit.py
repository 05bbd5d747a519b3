"""What a person says in so many words is to be remembered: no model takes part, and little is noted.

Layer: brain. Pure. English. Three forms, each a sentence of its own: "remember that ...", an instruction that lasts
("always", "never", "from now on"), and a setting of the person ("my dentist is Dr Lund", "I prefer tabs over spaces").
The person's own sentence is the memory. Statements about one thing share a key, so that a newer one supersedes the
older one. Everything else that is said is noted by a model, if there is one, and is found by its words anyway.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import msgspec

from stead.brain.handed_over import VERBS
from stead.brain.remembering import canonical, normal
from stead.brain.sentences import LEAD, Sentence, for_now, stated
from stead.domain.lazy_patterns import lazy_pattern
from stead.domain.memory import KEY_CHARS, Episode, Kind
from stead.domain.policies import Integrity

MOST = 20
"""Statements of one turn; more are a document."""


class Explicit(msgspec.Struct, frozen=True):
    """One statement.

    Args:
        kind: as of ``Memory``.
        text: the person's sentence, without what leads up to it and what it ends with for politeness.
        start: of the sentence in the turn, in characters.
        end: behind it.
        key: canonical; "" where the words name no one thing.
        value: what stands at the key.
        everywhere: the person says that it holds in every project.
        correcting: it puts something right, so it is no contradiction.
    """

    kind: Kind
    text: str
    start: int
    end: int
    key: str
    value: str
    everywhere: bool = False
    correcting: bool = False

    @property
    def standing(self) -> bool:
        """Whether it is an instruction, which is in every prompt."""
        return self.key.startswith("instruction.")

    @property
    def aliases(self) -> tuple[str, ...]:
        """By which name it is asked for: "dentist" at ``person.dentist``."""
        name = self.key.rpartition(".")[2].replace("_", " ")
        return (name,) if name and not self.standing else ()


_REMEMBER = lazy_pattern(
    r".*?\b(?:(?:please )?(?:remember|note|keep in mind)(?: that\b|:)|(?:don't|do not|never) forget(?: that\b|:)|"
    r"(?:please )?remember(?=,? (?:my|our|i) ))[ ,:]*(?P<rest>.+)",
    re.I,
)
_CORRECTS = lazy_pattern(
    r"(?:no|nope|wrong|actually|correction|sorry|i meant|that(?:'s| is) (?:wrong|not right))[,;:.! -]+", re.I
)
_CHANGED = lazy_pattern(r"\b(?:now|no longer|any ?more|instead|these days|again|from now on|(?:my|our) new)\b", re.I)
_TAIL = lazy_pattern(
    r"[, ]+(?:now|these days|instead|again|any ?more|please|thanks|thank you|by the way|btw|as of today|though)$", re.I
)
_EVERYWHERE = lazy_pattern(
    r"[, ]*\b(?:everywhere|(?:in|across|for) (?:all|every|each)(?: of)? (?:my |our )?"
    r"(?:projects?|workspaces?|sessions?|chats?|folders?))\b[, ]*",
    re.I,
)
_LASTS = r"(?:from (?:now|here|today) on|in (?:the )?future|going forward)"
_ORDER = (
    lazy_pattern(rf"{_LASTS}[,:]? (?:please )?(?P<how>always |never |don't |do not )?(?P<what>(?:{VERBS})\b.+)", re.I),
    lazy_pattern(rf"(?:please )?(?P<how>don't |do not |never )?(?P<what>(?:{VERBS})\b.+?),? {_LASTS}", re.I),
    lazy_pattern(
        r"(?:please |you (?:should|must) )?(?P<how>always|never|don't ever|do not ever) "
        rf"(?P<what>(?:{VERBS}) .+)",
        re.I,
    ),
)
_TELLS = lazy_pattern(
    r"(?:set|put|cut|read|run|end|use|let) (?:to|by|as|from|in|on|up|off|of)\b|.*(?:\bbefore|, that is.*|\band it .*)$",
    re.I,
)
"""What begins like an order and reports what happens: "always set to false in staging"."""
_LANGUAGE = lazy_pattern(
    r"(?:answer|reply|respond|write|speak|talk|explain)(?: to me)? in (?P<value>(?-i:[A-Z])\w+)", re.I
)
_USE_FOR = lazy_pattern(
    r"(?:use|run|take) (?P<value>[^,;]{1,80}?) (?:for|as) (?:the |our |my )?(?P<topic>[^,;]{2,80})", re.I
)
_PREFERS = lazy_pattern(
    r"i(?: now| really| generally| usually)? (?:prefer(?: to use| using)?|always use) (?P<value>[^,;]{2,60}?)"
    r"(?: (?:over|to|rather than|instead of) (?P<other>[^,;]{2,60}?))?(?: for (?P<topic>[^,;]{2,60}))?",
    re.I,
)
_CHOICES = {
    "indentation": lazy_pattern(r"tabs|(?:\w+ )?spaces", re.I),
    "theme": lazy_pattern(r"(?:dark|light) (?:mode|themes?)", re.I),
    "units": lazy_pattern(r"(?:metric|imperial)(?: units)?", re.I),
    "answer_length": lazy_pattern(r"(?:short|brief|concise|long|detailed) (?:answers?|replies)", re.I),
}
"""What is preferred to all others of its kind, named or not."""
_SETTING = lazy_pattern(
    r"(?:my|our)(?: new| current)? (?P<favourite>favou?rite )?(?P<what>(?:[\w-]+ ){0,2}[\w-]+?)"
    r"(?P<called>'s name)?(?: is|'s)(?: now| on)*(?P<named> called| named)? (?P<value>.+)",
    re.I,
)
_CALLED = lazy_pattern(r"(?:i am called|i'm called|(?:please )?call me) (?P<value>.+)", re.I)
_NAME = lazy_pattern(
    r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-ZÀ-Þ][\w'\u2019/-]*(?: (?:(?:van|de|von|der|la) )?[A-ZÀ-Þ][\w'\u2019-]*){0,3}"
    r"|\d{1,2} [A-ZÀ-Þ]\w+(?: \d{4})?|\+?\d[\d ()./-]*|\S+@\S+|\w+/\w+"
)
"""A name, a day, a figure or an address; anything else says how something is, and not what."""
_TITLED = lazy_pattern(r"(?:Dr|Mr|Mrs|Ms|Prof)\b")
_HOW = lazy_pattern(r"\w+(?:ian|ish|ese|ican|man|nch|tch|iss|lic)|[A-Z]{2,}|Away")
"""What says how a person is."""
_POINTS = lazy_pattern(
    r"(?:this|that|it|the|these|those|yours?|him|her|them|how|what|when|where|why|not|to|me|us|one)\b"
    r"|.*\b(?:one|option|version)$",
    re.I,
)
"""What means something that was there before; by itself it says nothing."""


def explicit(turn: Episode) -> tuple[Explicit, ...]:
    """What a turn states, in order, the last word on one thing alone; nothing for a turn that is not the person's."""
    if turn.who != "user" or turn.label.integrity is not Integrity.PERSON:
        return ()
    found: dict[tuple[str, str], Explicit] = {}
    for sentence in stated(turn.text):
        for one in _statements(sentence):
            found[one.key or normal(one.text), normal(one.value)] = one
    return tuple(found.values())[:MOST]


def everywhere(words: str) -> bool:
    """Whether words say of themselves that they hold in every project."""
    return _EVERYWHERE.search(words) is not None


def _statements(sentence: Sentence) -> Iterator[Explicit]:
    asked = _REMEMBER.fullmatch(sentence.text)
    words = LEAD.sub("", asked["rest"] if asked else sentence.text, count=1)
    right = _CORRECTS.match(words)
    words = words[right.end() :] if right else words
    plain = " ".join(_EVERYWHERE.sub(" ", words).split())
    while (shorter := _TAIL.sub("", plain)) != plain:
        plain = shorter
    understood = _order(plain) or _preference(plain) or _setting(plain)
    if for_now(words) or not (asked or understood) or len(words.split()) < 3:
        return
    kind, key, value = understood or ("knowledge", "", "")
    yield Explicit(
        kind=kind,
        text=f"{plain[:1].upper()}{plain[1:]}.",
        start=sentence.start,
        end=sentence.end,
        key=canonical(key[:KEY_CHARS]),
        value=value,
        everywhere=everywhere(words),
        correcting=right is not None or _CHANGED.search(words) is not None,
    )


def _order(words: str) -> tuple[Kind, str, str] | None:
    match = next((match for form in _ORDER if (match := form.fullmatch(words))), None)
    if match is None or _TELLS.match(match["what"]):
        return None
    how = "always" if (match["how"] or "always").strip().casefold() == "always" else "never"
    if language := _LANGUAGE.fullmatch(match["what"]):
        return (
            "preference",
            "instruction.language",
            language["value"] if how == "always" else f"not {language['value']}",
        )
    if how == "always" and (use := _USE_FOR.fullmatch(match["what"])):
        return "preference", f"instruction.{slug(use['topic'])}", use["value"]
    return "preference", f"instruction.{slug(match['what'])}", how


def _preference(words: str) -> tuple[Kind, str, str] | None:
    match = _PREFERS.fullmatch(words)
    if match is None or any(_POINTS.match(match[part] or "") for part in ("value", "other", "topic")):
        return None
    value, other = match["value"], match["other"]
    one_of = next((name for name, form in _CHOICES.items() if form.fullmatch(value)), "")
    pair = "_vs_".join(sorted((slug(value), slug(other)))) if other else slug(value)
    return "preference", f"preference.{one_of or slug(match['topic'] or '') or pair}", value


def _setting(words: str) -> tuple[Kind, str, str] | None:
    if (called := _CALLED.fullmatch(words)) and _NAME.fullmatch(called["value"]):
        return "knowledge", "person.name", called["value"]
    match = _SETTING.fullmatch(words)
    if match is None or not _NAME.fullmatch(match["value"]) or _HOW.fullmatch(match["value"]):
        return None
    if match["favourite"]:
        return "preference", f"preference.favourite.{slug(match['what'])}", match["value"]
    kind: Kind = "person" if match["called"] or match["named"] or _TITLED.match(match["value"]) else "knowledge"
    return kind, f"person.{slug(match['what'])}", match["value"]


def slug(text: str) -> str:
    """Words as a part of a key."""
    words = re.findall(r"[^\W_]+[+#]*", unicodedata.normalize("NFKC", text).casefold())
    return "_".join(word for word in words if word not in ("a", "an", "the", "my", "our", "of"))[:60].strip("_")
