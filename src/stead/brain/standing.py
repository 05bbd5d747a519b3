"""A person's sentence as a rule that the guardian keeps.

Layer: brain. A small grammar of English: who may do what, where. What it does not understand it refuses, with the forms
that it knows, so that nobody relies on a rule that is none. The rule is shown before it counts.

    never / do not ...                     deny       only ... in / from / to PLACE       deny everywhere else
    ... without asking, ask before ...     ask        always allow ..., feel free to ...  allow
"""

from __future__ import annotations

import hashlib
import re

from stead.domain.errors import InvalidRequest
from stead.domain.lazy_patterns import lazy_pattern
from stead.domain.policies import Rule

FORMS = (
    "never change infra/",
    "never run `rm`",
    "never delete mail without asking",
    "ask before running `make`",
    "only fetch from docs.example.com",
    "only change files in src/",
    "never use the network",
    "always allow running `pytest`",
)

_ASK = lazy_pattern(
    r"\b(?:without (?:asking|my (?:ok|okay|approval|consent))|(?:always )?ask(?: me)? (?:first )?before)\b", re.I
)
_ONLY = lazy_pattern(
    r"^\W*(?:please\s+)?(?:you (?:may|can|should) )?only\b|\bonly (?:these|those|the following|this)\b", re.I
)
_ALLOW = lazy_pattern(r"^\W*(?:always allow|allow|feel free to|you (?:may|can)|it is (?:fine|ok|okay) to)\b", re.I)
_DENY = lazy_pattern(r"\b(?:never|do not|don't|must not|may not|no|not)\b", re.I)

_CHANGE = lazy_pattern(r"\b(?:chang|edit|writ|modif|overwrit|touch|creat|renam|mov|delet|remov|eras)\w*", re.I)
_RUN = lazy_pattern(r"\b(?:run|running|execut\w*|start|starting|us(?:e|ing))\b", re.I)
_REACH = lazy_pattern(
    r"\b(?:fetch|visit|open|download|access|reach|contact|brows|connect|request)\w*|\b(?:network|internet|web|online|hosts?)\b",
    re.I,
)
_SEND = lazy_pattern(r"\b(?:send|mail|e-?mail|post|messag|pay|transfer|shar|publish|invit|cancel|book|reserv)\w*", re.I)
_THINGS = {
    "mail": lazy_pattern(r"\be?-?mails?\b", re.I),
    "calendar": lazy_pattern(r"\b(?:calendar|events?|meetings?|appointments?)\b", re.I),
    "pay": lazy_pattern(r"\b(?:pay|payments?|money|transfers?)\b", re.I),
    "message": lazy_pattern(r"\b(?:messages?|channels?|posts?)\b", re.I),
}
_PROGRAM = lazy_pattern(r"`([^`\s]+)[^`]*`")
_HOST = lazy_pattern(r"(?<![\w@/.-])(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,24}\b(?![\w/-]*\.\w)", re.I)
_HIDDEN = lazy_pattern(r"(?<![\w./-])\.[a-z][\w-]*(?:\.[\w-]+)*(?![\w/])", re.I)
_FOLDER = lazy_pattern(r"(?<![\w./-])(?:\./)?[\w.-]+(?:/[\w.*-]+)*/(?![\w.])")

_PATH = lazy_pattern(r"(?<![\w@:/.-])(?:\./|/work/)?[\w-][\w.-]*(?:/[\w.-]+)*\.[A-Za-z][A-Za-z0-9]{0,9}\b(?!\()")


def compile_rule(text: str, directory: str = "") -> Rule:
    """The rule that a sentence makes.

    Args:
        text: one sentence, up to 500 characters.
        directory: the folder that it holds for; "" for all.

    Raises:
        InvalidRequest: it is none of the forms; the message names some.
    """
    said = " ".join(text.split())
    if not said or len(said) > 500:
        raise InvalidRequest("a rule is one sentence of up to 500 characters")
    rule = _understood(said, directory)
    if rule is None:
        forms = "; ".join(FORMS)
        raise InvalidRequest(f"{said!r} is not understood as a rule, so it would protect nothing; say it like: {forms}")
    return rule


def understood(text: str, directory: str = "") -> Rule | None:
    """The same for a sentence that may be meant for the model alone; nothing when it is no rule."""
    said = " ".join(text.split())
    return _understood(said, directory) if said and len(said) <= 500 else None


def _understood(said: str, directory: str) -> Rule | None:
    only = bool(_ONLY.search(said))
    if _ASK.search(said):
        verdict = "ask"
    elif only:
        verdict = "deny"
    elif _ALLOW.search(said):
        verdict = "allow"
    elif _DENY.search(said):
        verdict = "deny"
    else:
        return None
    runs = _RUN.search(said) and not _CHANGE.search(said)
    programs = tuple(dict.fromkeys(_PROGRAM.findall(said))) if runs else ()
    bare = _PROGRAM.sub(" ", said) if runs else said.replace("`", " ")
    hosts = tuple(dict.fromkeys(host.lower() for host in _HOST.findall(bare) if _is_host(host)))
    paths = _paths(bare, hosts)
    things = tuple(f"*{name}*" for name, words in _THINGS.items() if words.search(bare)) if not (paths or hosts) else ()
    made = {"id": _id(said, directory), "verdict": verdict, "text": said, "directory": directory, "elsewhere": only}
    return _rule(made, bare, programs, hosts, paths, things)


def _rule(
    made: dict[str, object],
    bare: str,
    programs: tuple[str, ...],
    hosts: tuple[str, ...],
    paths: tuple[str, ...],
    things: tuple[str, ...],
) -> Rule | None:
    """From what is named to what is ruled; nothing when too little is named to tell."""
    only = bool(made["elsewhere"])
    found: dict[str, object] | None = None
    if things and (_SEND.search(bare) or _CHANGE.search(bare)):
        found = {"tools": things, "effects": ("send", "write"), "elsewhere": False} if not only else None
    elif programs and not (paths or hosts):
        found = {"effects": ("execute",), "programs": programs}
    elif hosts and not paths:
        found = {"effects": ("fetch", "execute", "send"), "hosts": hosts}
    elif paths and _CHANGE.search(bare):
        found = {"effects": ("write", "execute"), "paths": paths, "changing": True}
    elif paths and re.search(r"\bread\w*|\blook\w*|\bopen\w*", bare, re.I):
        found = {"effects": ("read", "write", "execute"), "paths": paths}
    elif not only and not paths and _REACH.search(bare):
        found = {"effects": ("fetch", "execute"), "hosts": ("*",)}
    elif (
        not only and not paths and _CHANGE.search(bare) and re.search(r"\b(?:files?|anything|workspace)\b", bare, re.I)
    ):
        found = {"effects": ("write", "execute"), "changing": True}
    elif (
        not only and not paths and _RUN.search(bare) and re.search(r"\b(?:commands?|programs?|scripts?|shell)\b", bare)
    ):
        found = {"effects": ("execute",)}
    return Rule(**{**made, **found}) if found else None  # type: ignore[arg-type]  # each field is named above


def _is_host(text: str) -> bool:
    """A name that could be a host and is no file: its end is no ending of files that people name in rules."""
    return text.rpartition(".")[2].lower() not in _ENDINGS


_ENDINGS = frozenset(
    {"py", "js", "ts", "md", "txt", "json", "toml", "yaml", "yml", "html", "css", "rs", "go", "c", "h", "cpp", "java"}
    | {"rb", "sh", "cfg", "ini", "lock", "csv", "sql", "tf", "xml", "svg", "png", "log", "env"}
)


def _paths(bare: str, hosts: tuple[str, ...]) -> tuple[str, ...]:
    folders = [_clean(found.group()) for found in _FOLDER.finditer(bare)]
    files = [_clean(found.group()) for pattern in (_PATH, _HIDDEN) for found in pattern.finditer(bare)]
    return tuple(dict.fromkeys(path for path in (*folders, *files) if path.lower().rstrip("/") not in hosts))


def _id(said: str, directory: str) -> str:
    return "r_" + hashlib.sha256(f"{directory}\n{said.casefold()}".encode()).hexdigest()[:8]


def _clean(path: str) -> str:
    """A workspace path as one spelling: no leading ``./`` or ``/work/``."""
    return path.removeprefix("/work/").removeprefix("./")
