"""The sentences that the rehearsal model understands: a goal in, a task out.

Layer: providers. Pure text work. The grammar is small and published; what it does not cover is not guessed at. A goal
is read in two steps: quoted text, code, addresses and names of files become marks, so that the rules see only the words
between them; then the first rule that fits the whole goal wins. Rules are ordered from the particular to the general.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Literal

import msgspec

GOAL_LIMIT = 100_000
MARKED_LIMIT = 1000
"""Characters of a goal, and of what remains once quotations have become marks; longer ones are not understood."""

TaskKind = Literal[
    "headings",
    "count",
    "find",
    "replace",
    "list",
    "csv",
    "copy",
    "run",
    "fetch",
    "write",
    "show",
]


class Task(msgspec.Struct, frozen=True):
    """What a goal asks for.

    Args:
        kind: what sort of work.
        sources: files, folders or patterns that it reads.
        out: the file that it writes, "" to answer in words.
        text: what is looked for, written, replaced or added.
        new: what replaces it.
        unit: of a count: lines, words, characters or rows.
        append: keeps what the file already holds.
    """

    kind: TaskKind
    sources: tuple[str, ...] = ()
    out: str = ""
    text: str = ""
    new: str = ""
    unit: str = ""
    append: bool = False


@lru_cache(maxsize=64)
def understand(goal: str) -> Task | None:
    """The task that a goal states, or nothing when no rule fits it."""
    if len(goal) > GOAL_LIMIT:
        return None
    marked, values = _mark(_ADDED.split(goal, maxsplit=1)[0])
    if len(marked) > MARKED_LIMIT:
        return None
    for kind, fixed, rule in _rules():
        if match := _compiled(rule).fullmatch(marked):
            groups = {name.rstrip("_"): value for name, value in match.groupdict().items() if value}
            if task := _task(kind, {**fixed, **groups}, values):
                return task
    return None


_ADDED = re.compile(r"\n\n(?:Constraints|Done when):\n")
"""Begins what Stead puts after a goal."""

# -- marks ----------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"(?P<url>https?://[^\s<>\"'`]+)|`(?P<code>[^`\n]+)`|\"(?P<double>[^\"]*)\"|“(?P<curly>[^”]*)”"
    r"|(?<!\w)'(?P<single>[^'\n]+)'(?!\w)|(?P<word>\S+)"
)
_FILE_NAME = re.compile(r"\.?[\w@+-][\w@+.-]*\.[A-Za-z][A-Za-z0-9]{0,9}|\.[A-Za-z][\w.-]+")
_PROPER_NAME = re.compile(r"[A-Z][\w-]{2,}")
_PLAIN_NAME = re.compile(r"[a-z][\w-]*")
_BEFORE_NAMES = {
    *("file", "folder", "directory", "in", "of", "from", "into", "to", "and", "does"),
    *("read", "open", "show", "copy", "duplicate"),
}
_BEFORE_FOLDERS = {"in", "under", "below", "inside", "within", "across", "throughout"}
_NO_NAMES = {
    *("it", "them", "this", "that", "these", "those", "order", "full", "total", "there", "one", "all", "each", "every"),
    *("the", "a", "an", "my", "its", "and/or", "e.g", "i.e"),
}
_COURTESY = re.compile(
    r"^(?:(?:please|kindly|now|first|(?:could|can|would|will) you|i (?:want|need|would like) you to|"
    r"your (?:task|goal|job) is to|goal:|task:)[ ,]+)+",
    re.IGNORECASE,
)


def _mark(goal: str) -> tuple[str, list[str]]:
    """The goal on one line with marks in it, and what they stand for.

    A mark is a sign between two control characters: u for an address, c for code, q for a quotation, p for a name.
    """
    values: list[str] = []
    words: list[str] = []
    tokens = list(_TOKEN.finditer(re.sub(r"[\x00-\x08\x0b-\x1f]", "", goal)))
    for at, token in enumerate(tokens):
        kind, raw = str(token.lastgroup), token.group(str(token.lastgroup))
        lead, core, rest = "", raw, ""
        if kind == "url":
            core = raw.rstrip(".,;:!?)")
            rest = raw[len(core) :]
        elif kind == "word":
            raw = raw.replace("\u2019", "'").replace("\u2013", "-")  # typographic apostrophe and dash
            before = words[-1].lower() if words else ""
            after = tokens[at + 1].group().lower().strip(".,;:!?") if at + 1 < len(tokens) else ""
            lead, core, rest = _trim(raw)
            if not _is_name(core, before, after):
                words.append(raw)
                continue
        values.append(core)
        sign = {"url": "u", "code": "c", "word": "p"}.get(kind, "q")
        words.append(f"{lead}\x01{sign}{len(values) - 1}\x02{rest}")
    text = re.sub(r"\x02 (?=[,.;:!?]|'s )", "\x02", " ".join(words))
    text = re.sub(r" *(?:[.;:](?= |$)|,(?= (?:and|then)\b))", " and", text)
    text = re.sub(r"(?: (?:and|then)\b)+", " and", re.sub(r" +", " ", text), flags=re.IGNORECASE)
    text = re.sub(r"(?: and|[.!?,])+$", "", text.strip())
    return _COURTESY.sub("", text).removesuffix(" please"), values


def _trim(raw: str) -> tuple[str, str, str]:
    """A bare word without the punctuation around it, and that punctuation."""
    lead = raw[: len(raw) - len(raw.lstrip("(["))]
    core = raw[len(lead) :].rstrip(",;:!?)")
    core = core.rstrip(".") or core
    core = core.removesuffix("'s")
    return lead, core, raw[len(lead) + len(core) :]


def _is_name(word: str, before: str, after: str) -> bool:
    """Whether a bare word names a file, a folder or a pattern of them, by its form or by the words next to it."""
    if word.lower() in _NO_NAMES or len(word) < 2:
        return False
    if "/" in word or "*" in word or _FILE_NAME.fullmatch(word):
        return True
    if _PLAIN_NAME.fullmatch(word) and after in ("folder", "directory") and before not in ("", "and"):
        return True
    if before in _BEFORE_NAMES and _PROPER_NAME.fullmatch(word):
        return True
    ends = after in ("", "and", "to", "into", "for")
    return before in _BEFORE_FOLDERS and ends and _PLAIN_NAME.fullmatch(word) is not None


# -- rules ----------------------------------------------------------------------------------------------------------

_FILE = r"\x01[pqc]\d+\x02"
_QUOTE = r"\x01[qc]\d+\x02"
_SOURCE = (
    rf"(?:(?:the|all|all the|every|each|my|this) )?(?:(?:csv|text|markdown|data) )?(?:files? |folder |directory )?"
    rf"(?P<sources>{_FILE}(?:(?:, and|,| and)? {_FILE})*|(?:all|the|every|these|all the) files?|(?:this|the) (?:folder|"
    rf"directory|project|workspace))(?: files?| folder| directory)?"
)
_OUT_NAME = r"(?:(?:the|a|an) )?(?:new )?(?:file )?(?:(?:named|called) )?"
_INTO = r"(?:to|into|in|as|at)"
_OF = r"(?:of|in|from|for|inside|within|under|across|throughout)"
_SAVE = r"(?:write|save|put|store|export|record|place|output|copy|note)"
_IT = r"(?: (?:it|them|this|that|these|everything|the (?:\w+ )?\w+))?"
_TELL = r"(?:report|show|tell me|print|give me|quote|say|return|answer with|list)"
_TAIL = (
    rf"(?: and {_SAVE}{_IT} {_INTO} {_OUT_NAME}(?P<out>{_FILE})(?: file)?"
    rf"| {_INTO} {_OUT_NAME}(?P<out_>{_FILE})(?: file)?| and {_TELL}[^\x01]*)?"
)
_VERB = (
    r"(?:list|show|give|tell|print|report|get|find|extract|collect|copy|pull|compute|calculate|determine|work|write|save|"
    r"put|store|export|record|make|create|build|quote|what is|what are)(?: me)?(?: out)?(?: with)?"
)
_MAKE = r"(?:write|create|make|save|produce|generate|fill|prepare)"
_READ = r"(?:read|open|look at|go through|take|load|parse|use|check)"
_WITH = r"(?:with|containing|holding|listing|from|out of|that (?:contains|lists|holds))"
_HAVING = r"(?:that |which )?(?:contains?|containing|with|mentions?|mentioning|having|has|have|matching)"
_UNITS = r"lines|words|characters|rows"

# What can be said of a file: kind, what is already known, and the words for it.
_THINGS: tuple[tuple[TaskKind, dict[str, str], str], ...] = (
    (
        "headings",
        {},
        r"(?:all )?(?:of )?(?:(?:the|its|their) )?(?:section )?headings|(?:a|the|its|an) (?:table of contents|outline)",
    ),
    ("find", {}, rf"(?:(?:all|every) )?(?:the )?lines? {_HAVING} (?:the (?:word|text) )?(?P<text>.+?)"),
    ("count", {}, rf"(?:(?:the|its) )?(?:total )?(?:number|count) of (?:(?:the|its) )?(?P<unit>{_UNITS})"),
    ("count", {}, r"(?:(?:the|its|a) )?(?P<unit>line|word|character|row) counts?"),
    ("csv", {}, r"(?:(?:a|the|its) )?(?:csv )?summary"),
)

_REPLACED = (
    r"(?:replace|change|substitute)(?: all| every| each)?(?: (?:the )?(?:occurrences?|mentions?|uses?) of)?"
    r"(?: the (?:word|text|name))? (?P<text>.+?) (?:with|by|to) (?P<new>.+?)"
)
_SOUGHT = (
    rf"(?:find|search for|search|look for|grep for|grep|locate)(?: (?:all|every|each))?(?: the)?"
    rf"(?: (?:mentions?|occurrences?|uses?|lines? {_HAVING})(?: of)?)?(?: the (?:word|text))? (?P<text>.+?)"
)
_LISTED = r"(?:list|show|name)(?: me)?(?: (?:all|the|of|names))*"
_OUT = rf"{_OUT_NAME}(?P<out>{_FILE})"
_SAYING = r"(?:with|containing|saying|that says|holding)(?: the)?(?: text| words?| line| contents?)?"

# Whole sentences: kind, what is already known, and the rule.
_SENTENCES: tuple[tuple[TaskKind, dict[str, str], str], ...] = (
    ("run", {}, rf"(?:run|execute)(?: the)?(?: command)?(?: line)? (?P<command>{_QUOTE})(?: command)?{_TAIL}"),
    ("run", {}, rf"(?:run|execute) (?:the )?command (?P<command>.+?){_TAIL}"),
    (
        "fetch",
        {},
        r"(?:fetch|get|download|visit|open|read|load)(?: the)?(?: page| url| site)?(?: at| from)? "
        rf"(?P<url>\x01u\d+\x02)(?: and (?:quote|report|show|tell me)(?: (?!and )[^\x01 ]+)*)?{_TAIL}",
    ),
    ("replace", {}, rf"{_REPLACED} {_OF} {_SOURCE}"),
    ("replace", {}, rf"in {_SOURCE},? {_REPLACED}"),
    ("replace", {}, rf"{_READ} {_SOURCE} and {_REPLACED}(?: in it)?"),
    (
        "write",
        {"append": "1"},
        rf"(?:append|add)(?: the)?(?: text| line)? (?P<text>{_QUOTE}) (?:to|at the end of) {_OUT}",
    ),
    ("write", {}, rf"(?:write|save|put|store)(?: the)?(?: text| words?| line)? (?P<text>{_QUOTE}) {_INTO} {_OUT}"),
    ("write", {}, rf"{_MAKE} {_OUT} {_SAYING} (?P<text>{_QUOTE})"),
    (
        "count",
        {},
        rf"how many (?P<unit>{_UNITS}) (?:does|do|are in|are there in|has|have|is in) {_SOURCE}"
        rf"(?: have| has| contain)?{_TAIL}",
    ),
    ("count", {}, rf"count (?:all )?(?:the )?(?:number of )?(?P<unit>{_UNITS}) {_OF} {_SOURCE}{_TAIL}"),
    ("count", {}, rf"{_READ} {_SOURCE} and count (?:all )?(?:the |its )?(?P<unit>{_UNITS})(?: in it)?{_TAIL}"),
    ("count", {}, rf"count (?P<sources>{_FILE})'s (?P<unit>{_UNITS}){_TAIL}"),
    ("copy", {}, rf"(?:copy|duplicate) {_SOURCE} (?:to|into|as) {_OUT}"),
    ("csv", {}, rf"summari[sz]e (?:the (?:data|table) in )?{_SOURCE}{_TAIL}"),
    ("list", {}, rf"{_LISTED} files? (?:in|under|below|of|matching|like|from) {_SOURCE}{_TAIL}"),
    ("list", {}, rf"{_LISTED} (?P<sources>{_FILE}) files?{_TAIL}"),
    ("list", {"sources": "all files"}, rf"{_LISTED} files{_TAIL}"),
    ("find", {}, rf"which (?:of the )?files (?:(?:in|under|below) {_SOURCE} )?(?:contain|mention|have) (?P<text>.+?)"),
    ("find", {}, rf"(?:search|grep|look through) {_SOURCE} for (?P<text>.+?){_TAIL}"),
    ("find", {}, rf"{_SOUGHT} {_OF} {_SOURCE}{_TAIL}"),
    ("show", {}, rf"(?:read|show|print|display|open|quote)(?: me)? {_SOURCE}(?: and {_TELL}[^\x01]*)?"),
)


@cache
def _rules() -> tuple[tuple[TaskKind, dict[str, str], str], ...]:
    """Every rule: what can be said of a file, in each form of sentence, then the others."""
    forms: list[tuple[TaskKind, dict[str, str], str]] = []
    for kind, fixed, thing in _THINGS:
        said = rf"(?:{thing})"
        of_it = r"(?: of it| in it)?"
        forms += [
            (kind, fixed, rf"{_VERB} {said} {_OF} {_SOURCE}{_TAIL}"),
            (kind, fixed, rf"{_READ} {_SOURCE} and {_MAKE}(?: {_INTO})? {_OUT} {_WITH} {said}{of_it}"),
            (kind, fixed, rf"{_READ} {_SOURCE} and {_VERB} {said}{of_it}{_TAIL}"),
            (kind, fixed, rf"{_MAKE} {_OUT} {_WITH} {said} {_OF} {_SOURCE}"),
            (kind, fixed, rf"{_VERB} (?P<sources>{_FILE})'s {said}{_TAIL}"),
        ]
    return (*forms, *_SENTENCES)


@cache
def _compiled(rule: str) -> re.Pattern[str]:
    """A rule, compiled when it is first tried: most goals fit one of the first."""
    return re.compile(rule, re.IGNORECASE | re.DOTALL)


_TABLE = re.compile(r"\.[ct]sv$", re.IGNORECASE)
_MARK = re.compile(r"\x01[a-z](\d+)\x02")


def _task(kind: TaskKind, said: dict[str, str], values: list[str]) -> Task | None:
    """What a rule found, with the marks put back; nothing when it makes no sense after all."""

    def plain(name: str) -> str:
        return _MARK.sub(lambda mark: values[int(mark.group(1))], said.get(name, ""))

    named = said.get("sources", "")
    marks = _MARK.findall(named)
    sources = tuple(values[int(mark)] for mark in marks) if marks else (("**",) if named else ())
    if kind == "csv" and not all(_TABLE.search(name) for name in sources):
        return None  # only a table can be summed up without understanding it
    return Task(
        kind=kind,
        sources=sources,
        out=plain("out"),
        text=plain("text") or plain("command") or plain("url"),
        new=plain("new"),
        unit=(plain("unit").lower().rstrip("s") + "s") if "unit" in said else "",
        append="append" in said,
    )
