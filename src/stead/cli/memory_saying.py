"""What a person says about memory: that something be remembered, put right, marked, told no longer.

Layer: cli.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable
from functools import partial

from stead.cli import figures
from stead.cli.finding import find_memory
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.memory_lines import day_ms, scope_fields
from stead.cli.output import clean, clean_line
from stead.cli.session_talking import read_text
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
    if len(texts) > 1 and (arguments.key or arguments.value or arguments.alias):
        raise CommandError("--key, --value and --alias are of one memory", "give one text, or leave them out")
    marks: Json = {
        "kind": arguments.kind,
        "key": arguments.key,
        "value": arguments.value,
        "aliases": arguments.alias,
        "pinned": arguments.pin,
        "standing": arguments.standing,
        "ttl_days": arguments.days,
        "valid_from_ms": day_ms(arguments.since),
    }
    body = {"items": [{"text": text, **marks} for text in texts], **scope_fields(arguments)}
    answer = invocation.client.post("/memories", body)
    if invocation.as_json:
        return invocation.report(answer)
    became = [part.split() for part in answer["text"].split("; ") if part]
    for text, (word, id) in zip(texts, became, strict=False):
        invocation.out.line(f"{_BECAME.get(word, clean_line(word))}: {clean_line(id)}  {clean_line(text, 80)}")
    if len(texts) > len(became):
        more = figures.counted(len(texts) - len(became), "more line was", "more lines were")
        invocation.out.line(f"{more} taken in. See them: stead memory list")
    return OK


def _correct(invocation: Invocation, arguments: Namespace) -> int:
    client = invocation.client
    id = find_memory(client, arguments.id)
    if arguments.text == ["-"]:
        text = read_text("-", "text").strip()
    elif arguments.text:
        text = " ".join(arguments.text)
    else:
        text = _rewritten(invocation, id)
    body: Json = {"text": text, "value": arguments.value, "was_wrong": arguments.was_wrong}
    body["valid_from_ms"] = day_ms(arguments.since)
    answer = client.put(f"/memories/{id}", body)
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


def _mark(invocation: Invocation, arguments: Namespace) -> int:
    marks: Json = {
        name: value
        for name, value in (
            ("kind", arguments.kind),
            ("key", arguments.key),
            ("aliases", arguments.alias),
            ("confidence", arguments.confidence),
            ("ttl_days", arguments.days),
            ("standing", arguments.standing),
        )
        if value is not None
    }
    if not marks:
        raise CommandError("no mark was named", "stead memory mark ID --kind preference; stead memory mark --help")
    ids = _ids(invocation, arguments)
    answer = invocation.client.post("/memories/mark", {"ids": ids, **marks})
    return invocation.report(answer, f"{_these(ids)} marked so.")


def _pin(pinned: bool, invocation: Invocation, arguments: Namespace) -> int:
    ids = _ids(invocation, arguments)
    answer = invocation.client.post("/memories/mark", {"ids": ids, "pinned": pinned})
    return invocation.report(answer, f"{_these(ids)} told {'always' if pinned else 'only where of use'}.")


def _retire(invocation: Invocation, arguments: Namespace) -> int:
    ids = _ids(invocation, arguments)
    answer = invocation.client.post("/memories/retire", {"ids": ids})
    back = f"stead memory restore {' '.join(ids[:3])}{' …' if len(ids) > 3 else ''}"
    return invocation.report(answer, f"{_these(ids)} told no longer. Back again: {back}")


def _restore(invocation: Invocation, arguments: Namespace) -> int:
    ids = _ids(invocation, arguments)
    answer = invocation.client.post("/memories/restore", {"ids": ids})
    return invocation.report(answer, f"{_these(ids)} told again.")


def _these(ids: list[str]) -> str:
    return f"{ids[0]} is" if len(ids) == 1 else f"These {len(ids):,} are"


def _ids(invocation: Invocation, arguments: Namespace) -> list[str]:
    return list(dict.fromkeys(find_memory(invocation.client, typed) for typed in arguments.ids))


RUN: dict[str, Callable[[Invocation, Namespace], int]] = {
    "add": _add,
    "correct": _correct,
    "mark": _mark,
    "pin": partial(_pin, True),
    "unpin": partial(_pin, False),
    "retire": _retire,
    "restore": _restore,
}
