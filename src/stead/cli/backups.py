"""``backup``, ``restore`` and ``key``: the data as one file, back again, and the key found again.

Layer: cli. These work on the home's files, so that they help when no daemon can start.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from stead.cli import figures
from stead.cli.forms import Row, arg, command, family
from stead.cli.invocation import CommandError, Invocation
from stead.cli.output import stream_is_terminal
from stead.cli.templates import lines
from stead.cli.text_input import read_hidden
from stead.client import NoDaemon, find_address

if TYPE_CHECKING:
    from stead.config import Home

_PASSPHRASE_LIMIT = 4096
_RESTORED = (
    "Restored into '{home}': {head:#event}, as of {made_ms:moment}.\n"
    "[What was there is now in '{moved_to}'.]\n"
    "Next: stead up --home {home}"
)


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
    found = {"home": str(home.root), **restored._asdict()}
    return invocation.report(found, *lines(_RESTORED, found))


def _key(invocation: Invocation, _: Namespace) -> int:
    home = invocation.home
    _require_stopped(home)
    if not home.journal.exists():
        cause = f"there is no journal in {str(home.root)!r} that a key could open"
        raise CommandError(cause, "--home DIR names another")
    from stead.config import load_settings
    from stead.storage.keystore import SOURCES, restore_keys

    text = read_hidden("recovery key", "stead key recover", _PASSPHRASE_LIMIT).strip()
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
    text = read_hidden(what, "", _PASSPHRASE_LIMIT).strip()
    if again and read_hidden(f"{what}, again", "", _PASSPHRASE_LIMIT).strip() != text:
        raise CommandError("the two are not the same", "try again")
    return text


_FILE = arg("file FILE", "the backup")
_PASSPHRASE = arg("--passphrase-file F", "its first line is the passphrase (else you are asked)", default=None)
_REPLACE = arg("--replace", "move what the home holds now aside, and go on")
_RECOVER: dict[str, Row] = {
    "recover": ("write the key file again from the recovery key (prompt or standard input)", (), _key)
}
COMMANDS = {
    "backup": command(_backup, _FILE, _PASSPHRASE),
    "restore": command(_restore, _FILE, _PASSPHRASE, _REPLACE),
    "key": family("key", _RECOVER),
}
