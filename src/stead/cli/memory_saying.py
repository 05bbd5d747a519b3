"""Changing memory: add, correct, pin, mark, retire and restore memories.

Layer: cli.
"""

from __future__ import annotations

import os
from argparse import BooleanOptionalAction, Namespace

from stead.cli import figures
from stead.cli.forms import Act, Argument, Row, arg, fields
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.memory_lines import ID, IDS, KINDS, SCOPE, day, scope_fields
from stead.cli.output import clean, clean_line
from stead.cli.text_input import read_text
from stead.client import Json

_MOST = 1_000
_BECAME = {
    "made": "remembered",
    "same": "known already",
    "superseded": "in place of what stood at its key",
    "refused": "refused",
}


def _add(invocation: Invocation, arguments: Namespace) -> int:
    texts = [" ".join(arguments.text)]
    if arguments.text == ["-"]:
        lines = read_text("-", "list").splitlines()
        texts = [line.strip() for line in lines if line.strip()]
    if len(texts) > _MOST:
        raise CommandError(f"{len(texts):,} lines are more than {_MOST:,}", "give them in several calls")
    if len(texts) > 1 and (arguments.key or arguments.value or arguments.aliases):
        raise CommandError("--key, --value and --alias are of one memory", "give one text, or leave them out")
    marks = _STATED(arguments)
    items = [{"text": text, **marks} for text in texts]
    answer = invocation.client.post("/memories", {"items": items, **scope_fields(arguments)})
    became = [part.split() for part in answer["text"].split("; ") if part]
    if invocation.as_json:
        return invocation.report({**answer, "id": became[0][1]} if len(texts) == len(became) == 1 else answer)
    for text, (word, id) in zip(texts, became, strict=False):
        invocation.out.line(f"{_BECAME.get(word, clean_line(word))}: {clean_line(id)}  {clean_line(text, 80)}")
    if len(texts) > len(became):
        more = figures.counted(len(texts) - len(became), "more line was", "more lines were")
        invocation.out.line(f"{more} taken in. See them: stead memory list")
    return OK


def _correct(invocation: Invocation, arguments: Namespace) -> int:
    client, id = invocation.client, arguments.id
    if arguments.text == ["-"]:
        text = read_text("-", "text").strip()
    else:
        text = " ".join(arguments.text) or _rewritten(invocation, id)
    answer = client.put(f"/memories/{id}", {"text": text, **_CORRECTED(arguments)})
    word, _, new = answer["text"].partition(" ")
    if word == "same":
        return invocation.report(answer, f"{id} says that already.")
    old_words = "The old words are kept as wrong" if arguments.was_wrong else "The past keeps the old words"
    return invocation.report(answer, f"{clean_line(new)} holds in place of {id}. {old_words}: stead memory show {id}")


def _rewritten(invocation: Invocation, id: str) -> str:
    """A memory's text as the person leaves it in their editor."""
    from stead.cli.editing import written

    how = f'stead memory correct {id} "the new words"'
    if not (os.environ.get("VISUAL") or os.environ.get("EDITOR") or "").strip():
        raise CommandError("no new words were given, and no editor is set", f"{how}, or set EDITOR")
    old = clean(invocation.client.get(f"/memories/{id}")["memory"]["text"])
    text = written("memory.txt", f"{old}\n").strip()
    if text == old.strip():
        raise CommandError("the words were left as they are; nothing was changed", how)
    return text


def _marks(arguments: Namespace) -> Json:
    marks = {name: mark for name, mark in _MARKED(arguments).items() if mark is not None}
    if not marks:
        raise CommandError("no mark was named", "stead memory mark ID --kind preference; stead memory mark --help")
    return {"ids": arguments.ids, **marks}


def _these(said: Json) -> str:
    return f"{said['ids'][0]} is" if len(said["ids"]) == 1 else f"These {len(said['ids']):,} are"


def _retired(said: Json) -> str:
    ids = said["ids"]
    back = f"stead memory restore {' '.join(ids[:3])}{' …' if len(ids) > 3 else ''}"
    return f"{_these(said)} retired. Undo: {back}"


def _act(action: str, done: str, **marks: bool) -> Act:
    return Act(f"POST /memories/{action}", lambda said: f"{_these(said)} {done}", fields("ids", **marks))


_MARKED = fields("kind", "key", "aliases", "confidence", "ttl_days", "standing")
_STATED = fields("kind", "key", "value", "aliases", "pinned", "standing", "ttl_days", "valid_from_ms")
_CORRECTED = fields("value", "was_wrong", "valid_from_ms")
_STATEMENT = (
    arg("text TEXT...", 'one statement; "-" reads several, one a line'),
    arg("--kind KIND", choices=KINDS, default="knowledge"),
    arg("--key KEY", "what it is about, such as person.timezone"),
    arg("--value VALUE", "what stands at the key, in a word"),
    arg("--alias NAME...", "a name for it", dest="aliases"),
    arg("--pin", "in every prompt, and never fades", dest="pinned"),
    arg("--standing", "an instruction for how to work, in every prompt"),
    arg("--days N", "dropped after so many days (else never)", type=int, default=0, dest="ttl_days"),
    day("--since DATE", "it holds since then, YYYY-MM-DD (else from now on)", dest="valid_from_ms"),
    *SCOPE,
)
_OTHER = (
    ID,
    arg("[text TEXT...]", 'the new words (else your editor); "-": stdin'),
    arg("--value VALUE", "what stands at its key now"),
    day("--since DATE", "they hold since then (else from now on)", dest="valid_from_ms"),
    arg("--was-wrong", "the old words never held, not even then"),
)
_MARKS = (
    IDS,
    arg("--kind KIND", choices=KINDS, default=None),
    arg("--key KEY", '"" for none', default=None),
    arg("--alias NAME...", "in place of its; repeatable", default=None, dest="aliases"),
    arg("--confidence X", "0 to 1", type=float, default=None),
    arg("--days N", "dropped after so many; 0 for never", type=int, default=None, dest="ttl_days"),
    Argument(
        ("--standing",), {"action": BooleanOptionalAction, "default": None, "help": "an instruction, in every prompt"}
    ),
)
_MARK = Act("POST /memories/mark", lambda said: f"{_these(said)} marked so.", _marks)
_RETIRE = Act("POST /memories/retire", _retired, fields("ids"))
ROWS: dict[str, Row] = {
    "add": ("add a memory", _STATEMENT, _add),
    "correct": ("put other words in its place; the past keeps the old ones", _OTHER, _correct),
    "pin": ("put them into every prompt", (IDS,), _act("mark", "pinned.", pinned=True)),
    "unpin": ("recall them only where they fit", (IDS,), _act("mark", "no longer pinned.", pinned=False)),
    "mark": ("change kind, key, names, confidence or how long they last", _MARKS, _MARK),
    "retire": ("stop recalling them; they can be restored", (IDS,), _RETIRE),
    "restore": ("bring retired ones back", (IDS,), _act("restore", "live again.")),
}
