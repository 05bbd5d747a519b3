"""Rules for preferences, for what a project uses, and for corrections.

Layer: brain. Pure. Used by ``brain.extracting`` alone.
"""

from __future__ import annotations

import re

from stead.brain.forms import is_of_system, is_tool
from stead.brain.stating import NEW, POINTING, Fields, Rule, bare, rule, slug

_SYSTEMS = (
    "staging|production|prod|test|dev|development|build|ci|demo|backup|main|default|database|db|mail|api|web|release|"
    "live|local|primary|internal|shared"
)
_THINGS = (
    "server|host|hostname|url|address|port|branch|database|bucket|cluster|region|environment|registry|endpoint|domain|"
    "queue|machine|folder|directory|repo|repository|namespace|version|timeout|currency|language|time ?zone"
)
_RUN = r"(?:unit |integration |end-to-end |e2e |browser )?tests|builds?|lints?|migrations|benchmarks|releases"
_ORDINAL = re.compile(
    r"\b(?:first|second|third|last|latter|former|other|previous|next) (?:one|option|version|idea|way)\b"
)
_WOES = re.compile(
    r"\b(?:waiting|debugging|fighting|wasting|losing|breaking|minutes?|hours?|crash\w*|fail\w*|broke\w*|breaks?|bugs?|"
    r"errors?|flaky|outages?|conflicts?|40\d|50\d|when|how|watching|getting|being|pipelines?|downtime)\b",
    re.I,
)
"""Nobody loves these; whoever says so means the opposite."""
_AMOUNT = re.compile(
    r"(?:\d[\d.,]*(?!\w)|\d[\d.,]*\s*(?:[kmgt]i?b|%|x|ms|s|min)\b|about|around|roughly|only|almost|up to|over|under|"
    r"plenty|lots?|tons?|several|many|most|every|each|any|some|no|nothing|something|everything|way|double|twice|half|"
    r"much|all|both|just|exactly|at least|between)\b",
    re.I,
)
_STUFF = re.compile(
    r"(?:the )?(?:memory|ram|cpu|disk|bandwidth|tokens?|heap|swap|threads?|cores?|credits?|cookies|caution|space|power|"
    r"words?|names?|common sense)",
    re.I,
)
_TELLS_ON = re.compile(
    r"\b(?:to|your|you|that|which|when|where|because|so|but|until|while|there|here|today|yesterday|anyway|too|who|if|"
    r"instead of|by)\b",
    re.I,
)
_STATE = re.compile(
    r"^(?:down|slow|broken|fine|ok|okay|up|back|full|gone|dead|ready|late|empty|busy|wrong|right|missing|unreachable|"
    r"\w+ing|\w+ed)\b",
    re.I,
)
_WEEKDAYS = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?", re.I)
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


def _uses(match: re.Match[str]) -> Fields | None:
    what, topic, no = match["value"], match["topic"] or "", bool(match["no"])
    if POINTING.search(what) or POINTING.search(bare(topic)) or _AMOUNT.match(what) or _TELLS_ON.search(what):
        return None
    if _STUFF.fullmatch(what) or _WEEKDAYS.match(what) or (topic and _TELLS_ON.search(topic)):
        return None
    beside = f" for {topic}" if topic else ""
    fields: Fields
    if topic:
        value = f"not {what}" if no else what
        fields = {"key": f"project.{slug(bare(topic))}", "value": value, "aliases": (bare(topic).casefold(),)}
    else:
        fields = {"key": f"project.uses.{slug(what)}", "value": "no" if no else "yes", "aliases": (what.casefold(),)}
    ended = {"ends": what} if no else {}
    return {"kind": "context", "text": f"We {'do not ' if no else ''}use {what}{beside}.", **fields, **ended}


def _switched(match: re.Match[str]) -> Fields | None:
    old, new, topic = match["old"], match["value"], match["topic"] or ""
    if POINTING.search(new) or POINTING.search(old) or _TELLS_ON.search(new) or not (is_tool(new) and is_tool(old)):
        return None
    return {
        "kind": "context",
        "text": f"We use {new}{f' for {topic}' if topic else ''}.",
        "key": f"project.{slug(bare(topic))}" if topic else "",
        "value": new,
        "aliases": (new.casefold(),),
        "instead_of": old,
    }


def _system(match: re.Match[str]) -> Fields | None:
    what, thing, value = match["what"].casefold(), match["thing"].casefold(), match["value"]
    if POINTING.search(value) or _STATE.search(value):
        return None
    if not is_of_system(thing, value, called=bool(match["called"])):
        return None
    return {
        "kind": "context",
        "text": f"The {what} is {value}.",
        "key": f"project.{slug(what)}",
        "value": value,
        "aliases": (what,),
    }


def _system_ended(match: re.Match[str]) -> Fields | None:
    what, value = match["what"].casefold(), match["value"]
    if _STATE.search(value) or not is_of_system(match["thing"].casefold(), value, called=bool(match["called"])):
        return None
    return {
        "kind": "context",
        "text": f"The {what} is no longer {value}.",
        "key": f"project.{slug(what)}",
        "value": f"not {value}",
        "aliases": (what,),
        "ends": value,
    }


def _run_with(match: re.Match[str]) -> Fields | None:
    what, value = match["what"].casefold(), match["value"]
    if POINTING.search(bare(value)) or not is_tool(value):
        return None
    return {
        "kind": "context",
        "text": f"{what.capitalize()} run with {value}.",
        "key": f"project.{slug(what)}.run_with",
        "value": value,
        "aliases": (f"run {what}", what),
    }


def _deploys(match: re.Match[str]) -> Fields | None:
    how, value = match["how"].casefold(), match["value"]
    if POINTING.search(value) or not (is_tool(value) or (how == "on" and _WEEKDAYS.fullmatch(value))):
        return None
    return {
        "kind": "context",
        "text": f"We deploy {how} {value}.",
        "key": f"project.deploy_{how}",
        "value": value,
        "aliases": ("deploy", "deployment"),
    }


def _not_but(match: re.Match[str]) -> Fields | None:
    old, new = match["old"], match["new"]
    if POINTING.search(new) or POINTING.search(old) or len(new.split()) > 6:
        return None
    return {"kind": "correction", "text": f"It is {new}, not {old}.", "key": "", "value": new, "instead_of": old}


def _use_instead(match: re.Match[str]) -> Fields | None:
    old, new = match["old"], match["new"]
    if POINTING.search(bare(new)) or POINTING.search(bare(old)):
        return None
    return {
        "kind": "correction",
        "text": f"Don't use {old}; use {new}.",
        "key": f"instruction.instead_of.{slug(old)}",
        "value": new,
        "aliases": (old.casefold(),),
    }


WORK: tuple[Rule, ...] = (
    rule(r"my favou?rite (?P<what>[\w -]{2,40}?)(?: is| are)(?: now)? (?P<value>[^,;]{1,80})", _favourite),
    rule(
        r"i(?: now)?(?: really| much| strongly| generally| usually| absolutely)? (?P<verb>prefer|like|love|enjoy|hate|"
        r"dislike|don't like|do not like|no longer like|can't stand|cannot stand|always use|only use|never use)"
        r"(?: to use| using)? (?P<value>[^,;]{2,80}?)"
        r"(?: (?:over|to|rather than|instead of) (?P<other>(?!(?:be|see|do|have|work|use|get)\b)[^,;]{2,60}?))?"
        r"(?: (?:for|when|as) (?P<topic>[^,;]{2,60}))?",
        _prefers,
    ),
    rule(
        r"(?:we|this project|the project|this repo|the repo|our team)"
        r"(?P<no> don't| do not| no longer| doesn't| does not| never| stopped)?(?: now| currently| always| only)? "
        r"(?:use|uses|using|are using|is using)(?: now)? (?P<value>[^,;]{1,60}?)"
        r"(?: (?:for|as) (?P<topic>[^,;]{2,60}))?",
        _uses,
    ),
    rule(
        r"(?:we|i)(?:'ve| have)?(?: just| now)? (?:switched|moved|migrated|changed)(?:(?: our| the) [\w -]{2,30}?)? "
        r"from (?P<old>[^,;]{1,60}?)(?: back| over)? to (?P<value>[^,;]{1,60}?)(?: for (?P<topic>[^,;]{2,60}))?",
        _switched,
    ),
    rule(
        rf"(?:the|our){NEW} (?P<what>(?:{_SYSTEMS}) (?P<thing>{_THINGS}))"
        r"(?: is| runs| lives| listens| has moved to| moved to)(?: now| currently)?(?: at| on| in|"
        r"(?P<called> called| named))? (?P<value>[^,;]{1,80})",
        _system,
    ),
    rule(
        rf"(?:the|our){NEW} (?P<what>(?:{_SYSTEMS}) (?P<thing>{_THINGS})) (?:is|runs|lives|listens)(?: now)?"
        r" (?:no longer|not)(?: at| on| in|(?P<called> called| named))? (?P<value>[^,;]{1,80})",
        _system_ended,
    ),
    rule(
        rf"(?:the |our )?(?P<what>{_RUN})(?: are run| run| are started| runs| is run| are built| is built| are made)"
        r"(?: now)?(?: with| by| through| using| via) (?P<value>[^,;]{1,80})",
        _run_with,
    ),
    rule(
        r"(?:we|this project)(?: now| always)? (?:deploy|deploys) (?P<how>to|with|from|on|via) (?P<value>[^,;]{1,60})",
        _deploys,
    ),
    rule(
        r"(?:it's|it is|that's|that is|it should be) (?P<new>[^,;]{1,60}?),? not (?P<old>[^,;]{1,60})",
        _not_but,
    ),
    rule(
        r"(?:(?:it's|it is|that's|that is) )?not (?P<old>[^,;]{1,60}?),? but (?P<new>[^,;]{1,60})",
        _not_but,
    ),
    rule(
        r"(?:don't|do not|never) use (?P<old>[^,;]{1,60}?)(?:[,;:]| [\u2013\u2014-]| but)(?: please)? use "
        r"(?P<new>[^,;]{1,60}?)",
        _use_instead,
    ),
)
