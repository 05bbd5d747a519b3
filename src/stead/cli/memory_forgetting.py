"""Forgetting for good: look at what would go, say yes, get a receipt; and verify receipts without a daemon.

Layer: cli. The words go to the daemon and nowhere else: no file of ours has them, no receipt and no error.
"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from stead.cli.figures import counted
from stead.cli.finding import find_memory
from stead.cli.forms import YES, Listing, OneOf, Row, arg
from stead.cli.invocation import FAILED, NEEDS_PERSON, OK, CommandError, Invocation
from stead.cli.output import Output, clean_line
from stead.cli.templates import fill, lines, some
from stead.cli.text_input import read_hidden, write_new
from stead.client import Json

_SHOWN = 12
_LONG_S = 300.0
_LIMIT_BYTES = 20_000_000
_TEXT_BYTES = 100_000


def _forget(invocation: Invocation, arguments: Namespace) -> int:
    wanted, out = _wanted(invocation, arguments), invocation.out
    if arguments.receipt and Path(arguments.receipt).exists():
        raise CommandError(f"there is a file {arguments.receipt!r} already", "give a new one: --receipt FILE")
    if "nearly" in wanted:
        words = _picked(invocation, invocation.client.post("/memories/forget/preview", wanted)["words"])
        if not words:
            return NEEDS_PERSON
        wanted = {"words": words, "match": "exact"}
    preview = invocation.client.post("/memories/forget/preview", wanted, timeout_s=_LONG_S)
    if not preview["events"] and not preview["memories"]:
        raise CommandError("no memory or event has these words", "stead memory forget --nearly WORDS", code="not_found")
    if not (out.as_json or (arguments.yes and not invocation.interactive)):
        _show(out, preview)
    invocation.confirm("forget", "This can't be undone.", yes=arguments.yes)
    answer = invocation.client.post("/memories/forget", wanted, timeout_s=_LONG_S)
    row = invocation.client.get("/memories/receipts")["items"][0]
    if arguments.receipt:
        write_new(arguments.receipt, json.dumps(row) + "\n")
    if out.as_json:
        out.json({**answer, **row})
    else:
        _print_receipt(out, row["receipt"])
        out.lines(lines("[the receipt is in {receipt}: stead memory verify FILE]", vars(arguments)))
    return NEEDS_PERSON if row["receipt"]["left"] else OK


def _wanted(invocation: Invocation, arguments: Namespace) -> Json:
    """What is meant: memories by their ids, events by their numbers, or one text."""
    what: list[str] = arguments.what
    if what == ["-"]:
        # Words that no list of commands gets to see.
        what = [read_hidden("text to be forgotten", "stead memory forget -", _TEXT_BYTES).strip()]
    named = [typed for typed in what if typed.startswith("m_")]
    if len(named) != len(what) and (named or arguments.event):
        raise CommandError("ids and words do not go together", "forget the one, then the other")
    if named or arguments.event:
        if arguments.nearly or arguments.exact:
            raise CommandError("--nearly and --exact are of words", "leave them out")
        ids = dict.fromkeys(find_memory(invocation.client, typed) for typed in named)
        return {"memories": list(ids), "events": arguments.event}
    words = " ".join(what).strip()
    if not words:
        raise CommandError("say what is to be forgotten", "stead memory forget ID, or WORDS")
    if arguments.nearly:
        return {"nearly": words}
    return {"words": [words], "match": "exact" if arguments.exact else "any_case"}


def _picked(invocation: Invocation, words: list[str]) -> list[str]:
    """The spellings that the person chooses; none without a terminal to ask at."""
    out = invocation.out
    if out.as_json:
        out.json({"words": words})
        return []
    out.line("That is said so:")
    for number, text in enumerate(words, 1):
        out.line(f"  {number}. {clean_line(text, 200)}")
    if not invocation.interactive:
        out.line('forget one: stead memory forget --exact "ONE OF THEM"')
        return []
    typed = input("which? numbers, all, or nothing: ").replace(",", " ").split()
    if typed == ["all"]:
        return words
    chosen = [int(one) for one in typed if one.isascii() and one.isdecimal() and 1 <= int(one) <= len(words)]
    if len(chosen) != len(typed) or not chosen:
        raise CommandError("nothing was forgotten", "give numbers from the list, or all")
    return [words[one - 1] for one in dict.fromkeys(chosen)]


def _show(out: Output, preview: Json) -> None:
    memories, events = preview["memories"], preview["events"]
    out.line(fill("This is forgotten for good: {memories:#memory/memories}, words of {events:#event}.", preview))
    out.lines(some("  {0}  {1:140}", memories, _SHOWN))
    places = [{**place, "times": place["count"] if place["count"] > 1 else 0} for place in preview["places"]]
    out.lines(some("  event {seq} of {session}, {type}[ ({times} times)]: {excerpt:120}", places, _SHOWN, events))
    out.lines((fill("  stays: {:240}", kept) for kept in preview["kept"]), "yellow")


def _print_receipt(out: Output, receipt: Json) -> None:
    """What was done, in words, and where anything is left."""
    out.line(fill("Forgotten: {memories:#memory/memories}, words of {events:#event}.", receipt))
    out.line(fill("Searched afterwards: {scanned:#file} of the home.", receipt))
    out.lines((fill("  still there: {:240}", left) for left in receipt["left"]), "red")
    if not receipt["left"]:
        out.line("No byte of it is left in them.")
    out.lines((fill("  made before, and has it: {:240}", name) for name in receipt["backups"]), "yellow")
    out.line(fill("Signed: {signature:33}  stead memory receipts", receipt))


def _verify(invocation: Invocation, arguments: Namespace) -> int:
    from msgspec import ValidationError, convert
    from msgspec import json as msgspec_json
    from msgspec.structs import asdict

    from stead.cli.audit import opened
    from stead.domain.memory_events import ForgetReceipt
    from stead.storage.receipts import verify_receipt

    key: str = arguments.key
    if not key:
        with opened(invocation) as audit:
            key = audit.table.public_key()
    out, bad = invocation.out, 0
    for number, line in _lines(arguments.file):
        try:
            row = msgspec_json.decode(line)
            receipt = convert(row.get("receipt", row) if isinstance(row, dict) else row, ForgetReceipt)
        except (ValueError, ValidationError) as error:
            cause = f"line {number} of {arguments.file!r} is no receipt"
            raise CommandError(cause, "stead memory receipts --json") from error
        good = verify_receipt(receipt, key)
        bad += not good
        verdict = out.style("good", "green") if good else out.style("NOT GOOD", "red")
        what = fill(
            "{signature:17}  {memories:#memory/memories}, {events:#event}[, {left:count} left]", asdict(receipt)
        )
        shown = {"line": number, "good": good, "signature": receipt.signature, "key": key}
        invocation.report(shown, f"{verdict}  {what}")
    if bad and not out.as_json:
        out.line(f"{counted(bad, 'receipt')} did not come from the key {clean_line(key, 17)}, or changed since")
    return FAILED if bad else OK


def _lines(name: str) -> Iterator[tuple[int, bytes]]:
    with nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb") as file:
        content = file.read(_LIMIT_BYTES)
    lines = [(number, line) for number, line in enumerate(content.splitlines(), 1) if line.strip()]
    if not lines:
        raise CommandError(f"{name!r} has no receipt", "stead memory receipts --json > FILE")
    yield from lines


_RECEIPTS = Listing(
    "/memories/receipts",
    "WHEN: {ended_ms:moment} | >MEMORIES: {receipt.memories:count} | >EVENTS: {receipt.events:count}"
    " | >SEARCHED: {receipt.scanned:count} | >LEFT: {receipt.left:count} | >BACKUPS: {receipt.backups:count}"
    " | SIGNATURE: {receipt.signature:17}",
    "Nothing was forgotten for good yet.",
)
_WHAT = 'ids of memories (m_…), or words wherever they stand; "-" reads the words from standard input'
_GONE = (
    arg("[what WHAT...]", _WHAT),
    arg("--event N...", "this event; repeatable", type=int),
    OneOf(arg("--exact", "large and small letters differ"), arg("--nearly", "show what nearly says so, and choose")),
    YES,
    arg("--receipt FILE", "write the receipt there"),
)
_FILE = arg("file FILE", 'receipts as JSON, a line each; "-" reads standard input')
_KEY = arg("--key HEX", "the public key (else the one of this home)")
ROWS: dict[str, Row] = {
    "forget": ("forget for good, wherever it stands; there is no way back", _GONE, _forget),
    "receipts": ("list the proof of what was forgotten", (), _RECEIPTS),
    "verify": ("check receipts, without a daemon", (_FILE, _KEY), _verify),
}
