"""What doctor looks at inside the home: its journal, its lock, its copies, its service. It asks the daemon nothing.

Layer: cli. Nothing is written, and nothing is brought up to date: a journal of an older version is left to the daemon.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import closing
from pathlib import Path

from stead.cli import cures, figures
from stead.cli.checks import Check, private_check
from stead.client import NoDaemon, find_address
from stead.config import Home, Settings, load_settings
from stead.domain.errors import InvalidRequest, StorageFault, WrongKey

_RESTORE = "stead restore FILE, from a backup"
_TAIL = 200
_AHEAD_S = 3600.0
_WITHOUT_BACKUP_DAYS, _OLD_BACKUP_DAYS = 7, 30


def data_checks(home: Home) -> list[Check]:
    """The home's data, and what is around it."""
    if not home.root.exists():
        return []
    try:
        settings = load_settings(home)
    except (InvalidRequest, OSError):
        settings = Settings()  # that has a check of its own
    return [
        private_check(home.run, "run folder"),
        private_check(home.log.parent, "log folder"),
        private_check(home.settings, "settings file", 0o022),
        _passphrase_file(),
        _time_zone(),
        _lock(home),
        _journal(home),
        _clock(home),
        _kept_files(home),
        _backup(home),
        _heads(home, settings),
        _memory_folder(settings),
        _specialists(home),
        _page(),
        _service(home),
    ]


def _passphrase_file() -> Check:
    named = os.environ.get("STEAD_PASSPHRASE_FILE", "")
    if not named:
        return Check("passphrase file", "ok", "none is named")
    if not os.path.isfile(named):
        way = "put it back, or: unset STEAD_PASSPHRASE_FILE"
        return Check("passphrase file", "fail", f"{named!r} is not there", way)
    return private_check(Path(named), "passphrase file")


def _time_zone() -> Check:
    from zoneinfo import available_timezones

    named = os.environ.get("TZ", "").lstrip(":")
    good = not named or named.startswith("/") or named in available_timezones()
    text = f"TZ is {named!r}" if named else "this computer's"
    way = "export TZ=Europe/Vienna, or the like; or set time_zone in config.toml"
    return Check("time zone", "ok" if good else "warn", text if good else f"{text}, which is no zone", way)


def _lock(home: Home) -> Check:
    import fcntl

    if not home.lock.exists():
        return Check("lock", "ok", "no daemon holds the home")
    with home.lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        else:
            return Check("lock", "ok", "no daemon holds the home")
    try:
        find_address(home)
    except NoDaemon:
        way = f"find it with: fuser {home.lock}; end it with: kill PID; then: stead up"
        return Check("lock", "fail", "a process holds the home, and does not say where it answers", way)
    return Check("lock", "ok", "the daemon holds the home")


def _journal(home: Home) -> Check:
    """Whether the journal opens with the home's key, is of a schema that this version knows, and can be read."""
    name = "journal content"
    if not (home.journal.exists() and home.journal.stat().st_size and home.key.exists()):
        return Check(name, "ok", "there is none to be read here")
    from stead.storage.database import Database, require_ours
    from stead.storage.journal import JournalFile
    from stead.storage.keystore import open_keys, source_of
    from stead.storage.migrate import known_steps, schema_of

    try:
        if source_of(home) != "file":
            return Check(name, "ok", "not looked at: its key is not in a file")
        keys = open_keys(home, "file", str).keys
        require_ours(home.journal, keys.database)
        database = Database(home.journal, keys.database)
        try:
            version, newest = schema_of(database), max(known_steps())
            if version > newest:
                text = f"it was made by a newer Stead (schema {version}; this one knows {newest})"
                return Check(name, "fail", text, f"install that version again, or {_RESTORE}")
            if version < newest:
                return Check(name, "ok", f"schema {version}; the next start brings it to {newest}")
            with closing(JournalFile(database, keys)) as journal:
                read = sum(1 for _ in journal.events(after=max(0, journal.head() - _TAIL)))
        finally:
            database.close()
    except WrongKey as error:
        return Check(name, "fail", str(error), f"stead key recover, or {_RESTORE}")
    except StorageFault as error:
        return Check(name, "fail", str(error), f"stead audit verify says what is left; {_RESTORE}")
    return Check(name, "ok", f"it opens, and its last {figures.counted(read, 'event')} can be read")


def _clock(home: Home) -> Check:
    if not home.journal.exists():
        return Check("journal clock", "ok", "nothing was written yet")
    ahead_s = home.journal.stat().st_mtime - time.time()
    text = (
        f"the journal was last written {figures.duration(abs(ahead_s) * 1000)} {'from now' if ahead_s > 0 else 'ago'}"
    )
    way = "set the clock: timedatectl set-ntp true; schedules wait until the time that they saw last"
    return Check("journal clock", "fail" if ahead_s > _AHEAD_S else "ok", text, way)


def _kept_files(home: Home) -> Check:
    index = home.contents / "index.db"
    there = not (home.journal.exists() and home.journal.stat().st_size) or index.exists()
    text = f"{str(index)!r} is {'there' if index.exists() else 'not there yet' if there else 'gone'}"
    way = f"checkpoints and before-images are lost; {_RESTORE}"
    return Check("kept files", "ok" if there else "fail", text, way)


def _backup(home: Home) -> Check:
    """How old the newest backup is; a home that was used for some days should have one."""
    from stead.storage.backup import NEWEST

    newest = home.data / "backups" / NEWEST
    way = "stead backup FILE, on another disk than the home's"
    try:
        made_s, where = newest.stat().st_mtime, os.fsdecode(newest.read_bytes())
    except FileNotFoundError:
        days = (time.time() - home.key.stat().st_mtime) / 86_400 if home.key.exists() else 0
        text = f"none was made in {days:.0f} days" if days > _WITHOUT_BACKUP_DAYS else "none was made yet"
        return Check("backup", "warn" if days > _WITHOUT_BACKUP_DAYS else "ok", text, way)
    text = f"the newest was made {figures.age(int(made_s * 1000), time.time() * 1000)}: {where!r}"
    gone = "" if os.path.exists(where) else ", which is not there now"
    return Check("backup", "warn" if time.time() - made_s > _OLD_BACKUP_DAYS * 86_400 else "ok", text + gone, way)


def _heads(home: Home, settings: Settings) -> Check:
    """Whether the copy of the signed heads can be read, and a next one added."""
    from stead.storage.head_copy import HeadCopy

    path = Path(settings.audit_heads or home.heads)
    way = "put a good copy back, or name another file: audit_heads in config.toml"
    if not path.parent.is_dir():
        return Check("signed heads", "fail", f"the folder of {str(path)!r} is not there", f"mount it, or {way}")
    try:
        last = HeadCopy(path).last()
    except StorageFault as error:
        return Check("signed heads", "fail", str(error), way)
    if path.exists() and not os.access(path, os.W_OK):
        return Check("signed heads", "fail", f"{str(path)!r} cannot be written", f"chmod u+w {path}")
    return Check(
        "signed heads",
        "ok",
        f"the copy covers {figures.counted(last.size, 'event')}" if last else "none was signed yet",
    )


def _memory_folder(settings: Settings) -> Check:
    named = settings.memory_folder
    good = not named or os.path.isdir(named)
    text = f"{named!r} is {'a folder' if good else 'no folder'}" if named else "in the home"
    return Check("memory folder", "ok" if good else "fail", text, f"mount it, or mkdir -p {named}")


def _specialists(home: Home) -> Check:
    from stead.runtime.specialists import Specialists

    faults = [f"{Path(one.path).name}, {one.fault}" for one in Specialists(home.specialists).files() if one.fault]
    text = "; ".join(faults) or "each can be read"
    return Check("specialists", "warn" if faults else "ok", text, "fix it: stead specialist edit KIND")


def _page() -> Check:
    from stead.web.pages import STATIC

    built = (STATIC / "index.html").is_file()
    return Check(
        "page", "ok" if built else "fail", "built" if built else "it was not built", "install again, or: make ui"
    )


def _service(home: Home) -> Check:
    """Whether the service's file starts this program; what it passes on of an environment may differ."""
    from stead.cli.own_service import MAC, installed
    from stead.cli.service_commands import text_of, without_environment

    service = installed(home)
    if service is None:
        return Check("service", "ok", "none is installed")
    if sys.platform == MAC:
        return Check("service", "ok", f"{str(service.file)!r} is installed")
    there = service.file.read_text("utf-8", "replace")
    same = without_environment(there) == without_environment(text_of(home, service))
    text = f"{str(service.file)!r} {'is as this version writes it' if same else 'was written for another version'}"
    return Check("service", "ok" if same else "warn", text, "stead service install", None if same else cures.service())
