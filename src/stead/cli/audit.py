"""``audit``: check the record, sign for it, hand it out, and ask it who allowed what.

Layer: cli. ``verify``, ``head``, ``key`` and ``export`` work on the home's files, with a daemon or without one, so that
nobody need trust a daemon to say that its own record is whole. ``log`` and ``show`` ask the daemon. What a decision was
recorded with besides the known fields is shown by its name, whatever it is.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from stead.cli import figures
from stead.cli.backups import passphrase_of_home
from stead.cli.finding import find_objective
from stead.cli.forms import Listing, Row, arg, family, number
from stead.cli.invocation import FAILED, NEEDS_PERSON, OK, CommandError, Invocation
from stead.cli.templates import fill, lines, pairs
from stead.domain.shown import reveal

if TYPE_CHECKING:
    from stead.client import Json
    from stead.domain.audit import Head
    from stead.storage.audit import Audit

_ANSWERS = {"given": "yes", "denied": "no", "lapsed": "lapsed", "": ""}
_REPORT = (
    "{events:#event}: commitments, chain and streams checked, {erased:number} erased on purpose\n"
    "{heads:#signed head} checked, {outside:number} of them kept outside the journal\n"
    "[nothing can have been cut off up to event {upto:number}]"
)
_FIRST = (
    "event: {seq} | when: {ts_ms:moment} | call: {key}, {tool} | arguments: {shown_arguments:raw}"
    " | verdict: {verdict}, by the rule {rule} | why: {reason} | risk: {risk}"
)
_LAST = (
    "question: {approval} | answer: {granted}[ (event {answer_seq})] | through: {answered_by}"
    " | reason given: {answer_reason} | outcome: [{outcome} (event {outcome_seq})] | digest: {digest}"
)


def report_lines(report: Json) -> list[str]:
    """What a check found, the verdict last.

    Args:
        report: an ``AuditReport``.
    """
    said = lines(_REPORT, {**report, "upto": report["covered"] if report["outside"] else 0})
    said += [fill("WRONG: {what}", {"what": fault}) for fault in report["faults"]]
    said += [fill("not checked: {what}", {"what": doubt}) for doubt in report["doubts"]]
    if report["faults"]:
        return [*said, fill("The record does NOT verify: {faults:#fault}.", report)]
    return [*said, "What could be checked is whole." if report["doubts"] else "The record is whole."]


def decision(item: Json) -> Json:
    """A decision with its answer as a person says it."""
    return {**item, "answer": _ANSWERS[item["answer"]]}


def decision_pairs(item: Json) -> list[tuple[str, str]]:
    """One decision in full: names and values, empty ones left out."""
    shown = decision(item)
    shown["granted"] = "granted ahead" if item["answered_by"] and not shown["answer"] else shown["answer"]
    shown["shown_arguments"] = reveal(item["arguments"]).replace("\n", " ")
    further = {name: value for name, value in item["further"].items() if value not in ("", None, [], {})}
    named = [(fill("{name}", {"name": name}), _shown(value)) for name, value in further.items()]
    return [*pairs(_FIRST, shown), *named, *pairs(_LAST, shown)]


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return fill("{text}", {"text": text})


_PROGRESS_S = 1.0
_LOG = Listing(
    "/audit",
    ">EVENT: {seq} | WHEN: {ts_ms:moment} | SESSION: {session} | TOOL: {tool} | VERDICT: {verdict} | RULE: {rule}"
    " | RISK: {risk} | ANSWER: {answer} | DOOR: {answered_by} | OUTCOME: {outcome}",
    "Nothing was decided there.",
    query=("session", "verdict"),
    newest=20,
    view=decision,
)


def _verify(invocation: Invocation, arguments: Namespace) -> int:
    from stead.domain.errors import StorageFault, WrongKey

    file = Path(arguments.head).expanduser() if arguments.head else None
    try:
        with opened(invocation) as audit:
            report = audit.verify(file, _Progress(invocation, "checked"))
    except (StorageFault, WrongKey) as error:
        cause = f"the journal does not verify: {error}"
        raise CommandError(cause, "restore a backup", exit_code=FAILED, code="damaged") from error
    from msgspec import to_builtins

    found = to_builtins(report)
    invocation.report({"ok": not (report.faults or report.doubts), **found}, *report_lines(found))
    return FAILED if report.faults else NEEDS_PERSON if report.doubts else OK


def _head(invocation: Invocation, arguments: Namespace) -> int:
    from stead.storage.head_copy import HeadCopy, encode_head

    with opened(invocation) as audit:
        head = asyncio.run(audit.sign())
        places = [str(audit.copy.path)]
    if arguments.out:
        HeadCopy(Path(arguments.out).expanduser().absolute()).add(head)
        places.append(arguments.out)
    if invocation.as_json:
        invocation.out.line(encode_head(head).decode())
        return OK
    shown = {"size": head.size, "root": head.root, "ts_ms": head.ts_ms, "key": head.key, "kept": " and ".join(places)}
    what = "events: {size:number} | root: {root} | signed: {ts_ms:moment} | key: {key} | kept in: {kept}"
    invocation.out.pairs(pairs(what, shown))
    if not arguments.out:
        invocation.out.line("A head on this disk falls with the disk: stead audit head --out FILE, on another one.")
    return OK


def _key(invocation: Invocation, _: Namespace) -> int:
    with opened(invocation) as audit:
        key = audit.table.public_key()
    return invocation.report({"algorithm": "Ed25519", "key": key}, key)


def _export(invocation: Invocation, arguments: Namespace) -> int:
    from stead.domain.ids import SessionId
    from stead.storage.export import Wanted, export

    destination = Path(arguments.out).expanduser().absolute()
    if destination.exists():
        raise CommandError(f"{str(destination)!r} exists", "choose another name, or remove it", code="conflict")
    with opened(invocation) as audit:
        wanted = Wanted(
            SessionId(arguments.session) if arguments.session else None,
            arguments.since,
            arguments.with_payloads,
            _last_head(arguments.head),
        )
        lines = asyncio.run(export(audit, wanted, _Progress(invocation, "read")))
        staged = destination.with_name(f".{destination.name}.part")
        try:
            with open(os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                count = sum(file.write(line) > 0 for line in lines) - 1
            staged.replace(destination)
        finally:
            staged.unlink(missing_ok=True)
        key = audit.table.public_key()
    return invocation.report(
        {"file": str(destination), "events": count, "key": key},
        f"{str(destination)!r} holds {figures.counted(count, 'event')}, to be verified by the key {key}",
        "Tell that key by another way than the file. How to verify: docs/audit.md",
    )


def _show(invocation: Invocation, arguments: Namespace) -> int:
    client, what = invocation.client, arguments.what
    if what.isdigit():
        items = [client.get(f"/audit/decisions/{int(what)}")]
    else:
        items = list(client.items("/audit", session=arguments.session, call=what, limit=500))[::-1]
    sessions = {item["session"] for item in items}
    if not items:
        raise CommandError(f"no decision on a call {what!r} is recorded", "stead audit log", code="not_found")
    if len(sessions) > 1:
        cause = f"{len(sessions)} objectives have a call {what!r}: {', '.join(sorted(sessions))}"
        raise CommandError(cause, f"stead audit show {what} --session ID")
    for place, item in enumerate(items):
        if invocation.as_json:
            invocation.out.json(item)
        else:
            invocation.out.line("" if place else fill("session {session}", item))
            invocation.out.pairs(decision_pairs(item))
    return OK


@contextmanager
def opened(invocation: Invocation) -> Iterator[Audit]:
    """The record of the home, read from its files; a daemon may run meanwhile."""
    home = invocation.home
    if not home.journal.exists():
        raise CommandError(f"there is no journal in {str(home.root)!r}", "--home DIR names another", code="not_found")
    from stead.config import load_settings
    from stead.storage.audit import open_audit
    from stead.storage.keystore import open_keys

    keys = open_keys(home, "file", passphrase_of_home).keys
    copy = Path(load_settings(home).audit_heads or home.heads)
    with open_audit(home.journal, keys, copy) as audit:
        yield audit


class _Progress:
    """Says how far it is, once it takes longer than a second, and every second from then on."""

    def __init__(self, invocation: Invocation, what: str) -> None:
        self._invocation = invocation
        self._what = what
        self._said_s = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now_s = time.monotonic()
        if now_s - self._said_s >= _PROGRESS_S and not self._invocation.as_json:
            self._said_s = now_s
            self._invocation.out.note(f"{done:,} of {total:,} {self._what}")


def _last_head(given: str | None) -> Head | None:
    if not given:
        return None
    from stead.storage.head_copy import HeadCopy

    head = HeadCopy(Path(given).expanduser().absolute()).last()
    if head is None:
        raise CommandError(f"there is no signed head in {given!r}", "give a file that stead audit head --out wrote")
    return head


def _day_ms(text: str) -> int:
    from calendar import timegm

    try:
        return timegm(time.strptime(text, "%Y-%m-%d")) * 1000
    except ValueError:
        raise CommandError(f"--since {text!r} is not a day", "--since 2031-05-04") from None


_SESSION = arg("--session ID", "of this objective alone", find_objective)
_OF_CALL = arg("--session ID", "the call's objective", find_objective)
_EXPORT = (
    arg("--out FILE", "the file; it must not exist", required=True),
    arg("--session ID", "of this objective alone (its id, or home)"),
    arg("--since DAY", "from this day on, YYYY-MM-DD (UTC)", type=_day_ms, default=0),
    arg("--with-payloads", "with what was said and done; it is in the clear"),
    arg("--head FILE", "prove that the record has grown from the last head in it"),
)
_DECISIONS = (
    _SESSION,
    arg("--verdict VERDICT", "these alone", choices=("allow", "ask", "deny")),
    number("-n --limit N", 20, "decisions to show (20)"),
)
_HEADS = arg("--head FILE", "signed heads that you kept elsewhere")
_OUT = arg("--out FILE", "write it there as well; keep that file on another disk")
_WHAT = arg("what EVENT|CALL", "the number of a verdict's event, or a call's key")
_ROWS: dict[str, Row] = {
    "verify": ("check the whole record; exit code 1 when something is wrong with it", (_HEADS,), _verify),
    "head": ("sign for everything up to now, and show it", (_OUT,), _head),
    "key": ("show the public key that heads are verified by", (), _key),
    "export": ("write the record so that others can verify it", _EXPORT, _export),
    "log": ("list decisions, newest first", _DECISIONS, _LOG),
    "show": ("show decisions in full", (_WHAT, _OF_CALL), _show),
}
COMMANDS = {"audit": family("audit", _ROWS)}
