"""``backup``, ``restore`` and ``key``: the data as one file, back again, and the key found again.

Layer: cli. These work on the home's files, so that they help when no daemon can start.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from stead.cli import figures
from stead.cli.invocation import OK, Command, CommandError, Invocation
from stead.cli.output import stream_is_terminal
from stead.client import NoDaemon, find_address

if TYPE_CHECKING:
    from stead.config import Home

_PASSPHRASE_LIMIT = 4096


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the backup")
    _add_passphrase_option(parser)


def _add_passphrase_option(parser: ArgumentParser) -> None:
    parser.add_argument("--passphrase-file", metavar="F", help="its first line is the passphrase (else you are asked)")


def _configure_restore(parser: ArgumentParser) -> None:
    _configure(parser)
    parser.add_argument("--replace", action="store_true", help="move what the home holds now aside, and go on")


def _backup(invocation: Invocation, arguments: Namespace) -> int:
    home = invocation.home
    if not home.key.exists():
        raise CommandError(f"there is nothing to back up in {str(home.root)!r}", "stead up", code="not_found")
    from stead.storage.backup import backup
    from stead.storage.keystore import open_keys

    destination = Path(arguments.file).expanduser().absolute()
    passphrase = _passphrase(arguments.passphrase_file, "passphrase of the backup", again=True)
    opened = open_keys(home, "file", passphrase_of_home)
    size_bytes = backup(home, opened.keys, passphrase, destination)
    return invocation.report(
        {"file": str(destination), "size_bytes": size_bytes},
        f"{str(destination)!r} holds everything, {figures.size(size_bytes)}, under your passphrase.",
        f"bring it back anywhere: stead restore {destination.name} --home DIR",
    )


def _restore(invocation: Invocation, arguments: Namespace) -> int:
    home, source = invocation.home, Path(arguments.file).expanduser().absolute()
    if not source.is_file():
        raise CommandError(f"there is no backup {str(source)!r}", "give the file that stead backup wrote")
    _require_stopped(home)
    from stead.storage.backup import restore

    passphrase = _passphrase(arguments.passphrase_file, "passphrase of the backup", again=False)
    restored = restore(source, passphrase, home, replace=arguments.replace)
    if invocation.as_json:
        return invocation.report({"home": str(home.root), **restored._asdict()})
    made = figures.moment(restored.made_ms)
    invocation.out.line(f"Restored into {str(home.root)!r}: {figures.counted(restored.head, 'event')}, as of {made}.")
    if restored.moved_to:
        invocation.out.line(f"What was there is now in {restored.moved_to!r}.")
    invocation.out.line(f"Next: stead up --home {home.root}")
    return OK


def _configure_key(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=type(parser))
    actions.add_parser("recover", help="make the key file anew from the recovery key (prompt or standard input)")


def _key(invocation: Invocation, arguments: Namespace) -> int:
    home = invocation.home
    _require_stopped(home)
    if not home.journal.exists():
        raise CommandError(
            f"there is no journal in {str(home.root)!r} that a key could open", "--home DIR names another"
        )
    from stead.config import load_settings
    from stead.storage.keystore import SOURCES, restore_keys

    text = _secret("recovery key", "type it at the prompt, or: stead key recover < FILE")
    source = next(source for source in SOURCES if source == load_settings(home).key_source)
    restore_keys(home, text, source, lambda: passphrase_of_home(again=True))
    return invocation.report({"key": str(home.key)}, f"{str(home.key)!r} is back and opens the journal. Next: stead up")


def _require_stopped(home: Home) -> None:
    try:
        address = find_address(home)
    except NoDaemon:
        return
    raise CommandError(f"a daemon (process {address.pid}) serves {str(home.root)!r}", "stead down", code="conflict")


def passphrase_of_home(*, again: bool = False) -> str:
    """For a home whose key is under a passphrase; found where the daemon finds it."""
    return _passphrase(os.environ.get("STEAD_PASSPHRASE_FILE"), "passphrase of this home", again=again)


def _passphrase(file: str | None, what: str, *, again: bool) -> str:
    """From the file's first line, else from the person, twice when it is new."""
    if file is not None:
        try:
            with open(file, encoding="utf-8") as lines:
                text = lines.readline(_PASSPHRASE_LIMIT).rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"the passphrase file cannot be read: {error}", "--passphrase-file FILE") from error
        if not text:
            raise CommandError(f"the first line of {file!r} is empty", "put the passphrase there")
        return text
    if not stream_is_terminal(sys.stdin):
        raise CommandError(f"no {what} was given and there is no terminal to ask at", "--passphrase-file FILE")
    text = _secret(what, "")
    if again and _secret(f"{what}, again", "") != text:
        raise CommandError("the two are not the same", "try again")
    return text


def _secret(what: str, next_step: str) -> str:
    if stream_is_terminal(sys.stdin):
        from getpass import getpass

        text = getpass(f"{what} (it is not shown): ")
    else:
        text = sys.stdin.read(_PASSPHRASE_LIMIT)
    if not text.strip():
        raise CommandError(f"no {what} was given", next_step)
    return text.strip()


COMMANDS = {
    "backup": Command(_configure, _backup),
    "restore": Command(_configure_restore, _restore),
    "key": Command(_configure_key, _key),
}
