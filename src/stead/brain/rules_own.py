"""Rules for what a person prefers, and for "my X is Y".

Layer: brain. Pure. Used by ``brain.extracting`` alone. What people say otherwise of themselves, of others and of their
work is left to a model: rules for it understood one sentence in ten.
"""

from __future__ import annotations

import re

from stead.brain.stating import IS, NAME, NEW, POINTING, Fields, Rule, rule, slug

_ROLES = (
    "wife|husband|partner|fiancee?|girlfriend|boyfriend|mother|father|mum|mom|dad|boss|manager|supervisor|dentist|"
    "doctor|gp|physician|therapist|lawyer|solicitor|accountant|bookkeeper|landlord|landlady|assistant|secretary|"
    "cleaner|plumber|electrician|gardener|mechanic|hairdresser|barber|vet|tax advis[eo]r|project manager|"
    "product owner|tech lead|team lead|designer|cto|ceo|cfo"
)
"""Of whom there is one."""
_ATTRIBUTES = (
    "birthday|date of birth|phone number|mobile number|email|email address|postcode|time ?zone|home ?town|"
    "native language|mother tongue|blood type|shoe size|employer|university|bank|insurer|insurance|gym|airline|"
    "pronouns|hourly rate|day rate|home airport|licen[cs]e plate|vat number|customer number|membership number"
)
_VALUE = r"(?:(?-i:[A-ZÀ-Þ])|[+(\d]|(?=\S+[@/]))[^,;]{0,80}"
"""A name, a figure or an address; anything else says how something is, and not what."""
_HOW = re.compile(
    r".+ (?:and|but|so|because|who|that|which|is|was|not)\b.*|\w+(?:ian|ish|ese|ican|rman|nch|tch|iss)", re.I
)
"""What goes on, or says where somebody is from."""
_LANGUAGES = ("native language", "mother tongue")
_ORDINAL = re.compile(
    r"\b(?:first|second|third|last|latter|former|other|previous|next) (?:one|option|version|idea|way)\b"
)
_WOES = re.compile(
    r"\b(?:waiting|debugging|fighting|wasting|losing|breaking|minutes?|hours?|crash\w*|fail\w*|broke\w*|breaks?|bugs?|"
    r"errors?|flaky|outages?|conflicts?|40\d|50\d|when|how|watching|getting|being|pipelines?|downtime)\b",
    re.I,
)
"""Nobody loves these; whoever says so means the opposite."""
_GROUPS = {
    "indentation": re.compile(r"(?:tabs|(?:two |four |2 |4 |8 )?spaces)(?: indentation)?|tab indentation", re.I),
    "theme": re.compile(r"(?:dark|light) (?:mode|themes?)", re.I),
    "answer_length": re.compile(
        r"(?:short|brief|concise|terse|long|detailed|verbose) (?:answers?|repl(?:y|ies)|responses?|explanations?)", re.I
    ),
    "units": re.compile(r"(?:metric|imperial)(?: units)?", re.I),
    "clock": re.compile(r"(?:24|12)[- ]hours?(?: clock| format| time)?", re.I),
    "quotes": re.compile(r"(?:single|double) quotes", re.I),
}
"""Things of which one is preferred to the other, whether or not the other is named."""
_SAYS = {
    "prefer": "prefers",
    "like": "likes",
    "love": "likes",
    "enjoy": "likes",
    "always use": "uses",
    "only use": "uses",
    "never use": "does not use",
}


def _prefers(match: re.Match[str]) -> Fields | None:
    what, other, topic = match["value"], match["other"] or "", match["topic"] or ""
    if POINTING.search(what) or _ORDINAL.search(what) or POINTING.search(topic) or len(what.split()) > 10:
        return None
    if match["verb"].casefold() in ("like", "love", "enjoy") and _WOES.search(f"{what} {topic}"):
        return None
    if what.casefold().startswith("to "):
        return None
    says = _SAYS.get(match["verb"].casefold(), "dislikes")
    group = next((name for name, form in _GROUPS.items() if form.fullmatch(what)), "")
    pair = "_vs_".join(sorted((slug(what), slug(other)))) if other else ""
    if says in ("prefers", "uses") or group:
        key = group or slug(topic) or pair or slug(what)
        value = what if says in ("prefers", "likes", "uses") else f"not {what}"
    else:
        key, value = slug(what), says
    beside = "".join((f" over {other}" if other else "", f" for {topic}" if topic else ""))
    return {
        "kind": "preference",
        "text": f"The person {says} {what}{beside}.",
        "key": f"preference.{key}",
        "value": value,
        "aliases": tuple(filter(None, (topic.casefold(), what.casefold()))),
    }


def _favourite(match: re.Match[str]) -> Fields | None:
    what, value = match["what"].casefold(), match["value"]
    if POINTING.search(value) or _WOES.search(value) or what in ("part", "thing", "moment", "bug", "error"):
        return None
    return {
        "kind": "preference",
        "text": f"The person's favourite {what} is {value}.",
        "key": f"preference.favourite.{slug(what)}",
        "value": value,
        "aliases": (f"favourite {what}", f"favorite {what}"),
    }


def _name(match: re.Match[str]) -> Fields:
    name = match["name"]
    return _own("name", name, f"The person is called {name}.", "who am i")


def _attribute(match: re.Match[str]) -> Fields | None:
    attribute, value = match["attribute"].casefold(), match["value"]
    if POINTING.match(value) or (attribute not in _LANGUAGES and _HOW.fullmatch(value)):
        return None
    return _own(attribute, value, f"The person's {attribute} is {value}.")


def _own(attribute: str, value: str, text: str, *aliases: str) -> Fields:
    return {
        "kind": "knowledge",
        "text": text,
        "key": f"person.{slug(attribute)}",
        "value": value,
        "aliases": (attribute, f"my {attribute}", *aliases),
    }


def _role(match: re.Match[str]) -> Fields:
    role, name = match["role"].casefold(), match["name"]
    return {
        "kind": "person",
        "text": f"{name} is the person's {role}.",
        "key": f"person.{slug(role)}",
        "value": name,
        "aliases": (role, f"my {role}", name.casefold()),
    }


def _role_is(match: re.Match[str]) -> Fields | None:
    """Of one word after "my boss is" nobody can tell whether it is a name."""
    return _role(match) if " " in match["name"] else None


OWN: tuple[Rule, ...] = (
    rule(r"my favou?rite (?P<what>[\w -]{2,40}?)(?: is| are)(?: now)? (?P<value>[^,;]{1,80})", _favourite),
    rule(
        r"i(?: now)?(?: really| much| strongly| generally| usually| absolutely)? (?P<verb>prefer|like|love|enjoy|hate|"
        r"dislike|don't like|do not like|no longer like|can't stand|cannot stand|always use|only use|never use)"
        r"(?: to use| using)? (?P<value>[^,;]{2,80}?)"
        r"(?: (?:over|to|rather than|instead of) (?P<other>(?!(?:be|see|do|have|work|use|get)\b)[^,;]{2,60}?))?"
        r"(?: (?:for|when|as) (?P<topic>[^,;]{2,60}))?",
        _prefers,
    ),
    rule(rf"(?:my name is|my name's|i am called|i'm called|(?:you can |please )?call me) (?P<name>{NAME})", _name),
    rule(rf"(?:my|our){NEW} (?P<role>{_ROLES})(?: is called| is named|'s name is) (?P<name>{NAME})", _role),
    rule(rf"(?:my|our){NEW} (?P<role>{_ROLES}){IS} (?P<name>{NAME})", _role_is),
    rule(rf"(?P<name>{NAME}) is(?: now)?(?: my| our){NEW} (?P<role>{_ROLES})", _role),
    rule(rf"(?:my|our){NEW} (?P<attribute>{_ATTRIBUTES}){IS}(?: on)? (?P<value>{_VALUE})", _attribute),
)
