"""``audit``: check the record, sign for it, hand it out, and ask it who allowed what.

Layer: cli. ``verify``, ``head``, ``key`` and ``export`` work on the home's files, beside a daemon or without one, so
that nobody need trust a daemon to say that its own record is whole. ``log`` and ``show`` ask the daemon.
"""

from __future__ import annotations

import asyncio
import os
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stead.cli import figures
from stead.cli.audit_lines import decision_cells, decision_pairs, report_lines
from stead.cli.backups import passphrase_of_home
from stead.cli.finding import find_objective
from stead.cli.invocation import FAILED, NEEDS_PERSON, OK, Command, CommandError, Invocation
from stead.cli.output import clean_line

if TYPE_CHECKING:
    from stead.domain.audit import Head
    from stead.storage.audit import Audit

_PROGRESS_S = 1.0
_HEADINGS = [">EVENT", "WHEN", "SESSION", "TOOL", "VERDICT", "RULE", "RISK", "ANSWER", "DOOR", "OUTCOME"]


def _configure(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=type(parser))
    verify = actions.add_parser("verify", help="check the whole record; exit code 1 when something is wrong with it")
    verify.add_argument("--head", metavar="FILE", help="signed heads that you kept elsewhere")
    head = actions.add_parser("head", help="sign for everything up to now, and show it")
    head.add_argument("--out", metavar="FILE", help="write it there as well; keep that file on another disk")
    actions.add_parser("key", help="show the public key that heads are verified by")
    export = actions.add_parser("export", help="write the record so that others can verify it")
    export.add_argument("--out", metavar="FILE", required=True, help="the file; it must not exist")
    export.add_argument("--session", default="", metavar="ID", help="of this objective alone (its id, or home)")
    export.add_argument("--since", default="", metavar="DAY", help="from this day on, YYYY-MM-DD (UTC)")
    export.add_argument("--with-payloads", action="store_true", help="with what was said and done; it is in the clear")
    export.add_argument("--head", metavar="FILE", help="prove that the record has grown from the last head in it")
    log = actions.add_parser("log", help="list decisions, newest first")
    log.add_argument("--session", default="", metavar="ID", help="of this objective alone")
    log.add_argument("--verdict", default="", choices=("allow", "ask", "deny"), help="these alone")
    log.add_argument("-n", "--limit", type=int, default=20, metavar="N", help="decisions to show (20)")
    show = actions.add_parser("show", help="show decisions in full")
    show.add_argument("what", metavar="EVENT|CALL", help="the number of a verdict's event, or a call's key")
    show.add_argument("--session", default="", metavar="ID", help="the call's objective")


def _audit(invocation: Invocation, arguments: Namespace) -> int:
    match arguments.action:
        case "verify":
            return _verify(invocation, arguments.head)
        case "head":
            return _head(invocation, arguments.out)
        case "key":
            return _key(invocation)
        case "export":
            return _export(invocation, arguments)
        case "log":
            return _log(invocation, arguments)
        case _:
            return _show(invocation, arguments.what, arguments.session)


def _verify(invocation: Invocation, given: str | None) -> int:
    from stead.domain.errors import StorageFault, WrongKey

    file = Path(given).expanduser() if given else None
    try:
        with opened(invocation) as audit:
            report = audit.verify(file, _Progress(invocation, "checked"))
    except (StorageFault, WrongKey) as error:
        raise CommandError(
            f"the journal does not verify: {error}", "restore a backup", exit_code=FAILED, code="damaged"
        ) from error
    if invocation.as_json:
        from msgspec import to_builtins

        invocation.out.json({"ok": not (report.faults or report.doubts), **to_builtins(report)})
    else:
        for line in report_lines(report):
            invocation.out.line(line)
    return FAILED if report.faults else NEEDS_PERSON if report.doubts else OK


def _head(invocation: Invocation, out: str | None) -> int:
    from stead.storage.head_copy import HeadCopy, encode_head

    with opened(invocation) as audit:
        head = asyncio.run(audit.sign())
        copy = audit.copy.path
    if out:
        HeadCopy(Path(out).expanduser().absolute()).add(head)
    if invocation.as_json:
        invocation.out.line(encode_head(head).decode())
        return OK
    rows = [
        ("events", f"{head.size:,}"),
        ("root", head.root),
        ("signed", figures.moment(head.ts_ms)),
        ("key", head.key),
        ("kept in", clean_line(f"{copy} and {out}" if out else str(copy))),
    ]
    invocation.out.pairs(rows)
    if not out:
        invocation.out.line("A head on this disk falls with the disk: stead audit head --out FILE, on another one.")
    return OK


def _key(invocation: Invocation) -> int:
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
            _day_ms(arguments.since),
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


def _log(invocation: Invocation, arguments: Namespace) -> int:
    if arguments.limit < 1:
        raise CommandError(f"-n {arguments.limit} is not positive", "stead audit log -n 20")
    session = find_objective(invocation.client, arguments.session) if arguments.session else ""
    items: list[Any] = []
    found = invocation.client.items(
        "/audit", session=session, verdict=arguments.verdict, limit=min(500, arguments.limit)
    )
    for item in found:
        items.append(item)
        if len(items) == arguments.limit:
            break
    invocation.out.rows(items, _HEADINGS, [decision_cells(item) for item in items], "Nothing was decided there.")
    return OK


def _show(invocation: Invocation, what: str, typed: str) -> int:
    client = invocation.client
    if what.isdigit():
        items = [client.get(f"/audit/decisions/{int(what)}")]
    else:
        session = find_objective(client, typed) if typed else ""
        items = list(client.items("/audit", session=session, call=what, limit=500))[::-1]
    sessions = {item["session"] for item in items}
    if not items:
        raise CommandError(f"no decision on a call {what!r} is recorded", "stead audit log", code="not_found")
    if len(sessions) > 1:
        raise CommandError(
            f"{len(sessions)} objectives have a call {what!r}: {', '.join(sorted(sessions))}",
            f"stead audit show {what} --session ID",
        )
    for number, item in enumerate(items):
        if invocation.as_json:
            invocation.out.json(item)
        else:
            invocation.out.line("" if number else f"session {clean_line(item['session'])}")
            invocation.out.pairs(decision_pairs(item))
    return OK


@contextmanager
def opened(invocation: Invocation) -> Iterator[Audit]:
    """The record of the home, read from its files, beside a daemon or without one."""
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
    if not text:
        return 0
    from calendar import timegm

    try:
        return timegm(time.strptime(text, "%Y-%m-%d")) * 1000
    except ValueError:
        raise CommandError(f"--since {text!r} is not a day", "--since 2031-05-04") from None


COMMANDS = {"audit": Command(_configure, _audit)}
