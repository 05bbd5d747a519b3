"""What a machine planted where a program of the person's would act on it: moved out of the folder at its end.

Layer: machines. A protected file that was there at the start is shown read-only; one that was not cannot be forbidden
without littering the folder with placeholders. So what there was is written down before a machine starts
(``run/machines`` in Stead's home), and compared when everything in it is dead. After a crash of the daemon the next one
finds the list and does it then. Between the planting and the machine's end the file is there.

Where the folder cannot be looked through whole, the list is kept (``unclean-…``): until it could be compared, nobody
can tell what was planted from what was there, so no other machine that writes starts in the folder.

Moving is a rename, of a name in a folder that was opened without following links; nothing of it is read. Where Stead's
home is on another file system, the file is renamed in its folder instead, to a name that no program knows.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from stead.config import Home
from stead.domain.errors import Conflict, NotFound
from stead.domain.ids import SessionId
from stead.domain.obeyed import fold
from stead.domain.trials import Quarantined, Swept
from stead.machines.machine import Binding
from stead.machines.protected import Found, is_protected, is_released, opened_above, rules_digest, scan, walk
from stead.machines.trial import remove_tree
from stead.machines.workspace import opened_workspace

_SET_ID = stat.S_ISUID | stat.S_ISGID
_MOST_LOOKED_AT = 5_000_000


class Baseline(msgspec.Struct, frozen=True):
    """What a folder had of protected files when a machine started; see ``Found``."""

    session: SessionId
    directory: str
    released: tuple[str, ...]
    kept: dict[str, str]
    links: dict[str, str]
    named: tuple[str, ...] = ()
    rules: dict[str, str] = {}
    allowed: tuple[str, ...] = ()


class QuarantineFolder:
    """Where things are kept, and the lists of the machines that live. Every method blocks.

    Args:
        home: Stead's own.
    """

    def __init__(self, home: Home) -> None:
        self._lists = home.run / "machines"
        self._kept = home.root / "quarantine"
        self._again = threading.Lock()  # two machines may start in one folder at once

    def begin(self, key: str, session: SessionId, binding: Binding, found: Found) -> None:
        """Write down what there is, before the machine of this key starts."""
        self._lists.mkdir(mode=0o700, exist_ok=True)
        had = (found.kept, found.links, found.named, found.rules)
        baseline = Baseline(session, binding.directory, binding.released, *had, binding.allowed)
        fresh = self._lists / f".{key}.new"
        fresh.write_bytes(msgspec.json.encode(baseline))
        fresh.replace(self._lists / f"{key}.json")

    def left(self) -> list[str]:
        """Keys of machines whose end was not seen."""
        return [path.stem for path in sorted(self._lists.glob("s_*.json"))] if self._lists.exists() else []

    def sweep(self, key: str) -> Swept:
        """Compare and move, once everything in the machine is dead. Done before, or never begun, it finds nothing."""
        path = self._lists / f"{key}.json"
        was = _baseline(path)
        if was is None:
            return Swept()
        swept = self._swept(was, path)
        if swept.unseen:
            path.rename(path.with_name(f"unclean-{secrets.token_hex(4)}-{path.name}"))
        return swept

    def sweep_again(self, directory: str) -> list[tuple[SessionId, Swept]]:
        """Compare what could not be compared whole, of this folder, those in it and those that it is in."""
        found = []
        with self._again:
            for path in sorted(self._lists.glob("unclean-*.json")):
                was = _baseline(path)
                if was and _overlap(was.directory, directory) and os.path.lexists(was.directory):
                    found.append((was.session, self._swept(was, path)))
        return found

    def _swept(self, was: Baseline, path: Path) -> Swept:
        """What came of comparing; the list goes once that was done whole."""
        try:
            swept = self._compare(was, path.stat().st_mtime_ns)
        except OSError:
            return Swept(unseen=True, where=".")  # the folder itself is gone, or may not be read any more
        if not swept.unseen:
            path.unlink()
        return swept

    def planted(self, directory: str) -> Callable[[str], bool]:
        """Says of a path whether a machine that still works in the folder may have planted it there."""
        here = self._at_work(directory)
        return lambda path: any(_is_planted(was, _within(was, directory, path)) for was in here)

    def untold(self, directory: str) -> Callable[[str, str], str]:
        """Says of a file of rules, by its path and digest, why sessions are not told it; "" when they are.

        Told is what the person left there: no content that a machine wrote, and nothing that one may be writing now.
        """
        written = {row.rules: row for row in self.rows() if row.rules}
        here = self._at_work(directory)

        def why(path: str, digest: str) -> str:
            if row := written.get(digest):
                return f"an agent wrote it in {row.session}; to have it told: stead quarantine restore {row.id}"
            for was in here:
                where = _within(was, directory, path)
                free = is_released(where, was.released) and not is_released(where, was.allowed)
                if was.rules.get(where) != digest and (free or _is_planted(was, where)):
                    return f"the machine of {was.session} may have written it"
            return ""

        return why

    def _at_work(self, directory: str) -> list[Baseline]:
        """Machines whose folder is this one, holds it or lies in it."""
        every = [was for was in map(_baseline, self._lists.glob("*s_*.json")) if was]
        return [was for was in every if _overlap(was.directory, directory)]

    def rows(self) -> tuple[Quarantined, ...]:
        """Everything under quarantine, oldest first."""
        if not self._kept.exists():
            return ()
        rows = [msgspec.json.decode(path.read_bytes(), type=Quarantined) for path in self._kept.glob("q_*.json")]
        return tuple(sorted(rows, key=lambda row: (row.at_ms, row.id)))

    def settle(self, id: str, *, restore: bool) -> Quarantined:
        """As ``Quarantine.settle_quarantined``."""
        row = next((row for row in self.rows() if row.id == id), None)
        if row is None:
            raise NotFound(f"nothing of the id {id!r} is under quarantine; see `stead quarantine list`")
        if row.rules:
            if not restore:
                _remove_rules(row)
            for other in self.rows():  # another session may have written the same
                if other.rules == row.rules:
                    (self._kept / f"{other.id}.json").unlink()
            return row
        if restore:
            _put_back(row)
        else:
            remove_tree(row.kept)
        (self._kept / f"{id}.json").unlink()
        return row

    def _compare(self, was: Baseline, began_ns: int) -> Swept:
        now = scan(was.directory, was.released, was.named)
        before = set(was.kept.values())
        moved: list[Quarantined] = []
        changed: list[str] = []
        with opened_workspace(was.directory) as top:
            for path in sorted(now.kept | now.links):
                if path == ".git" and path not in was.kept:
                    continue  # the placeholder, which no machine can write; what is in it now, the person put there
                if path in was.kept:
                    if now.kept.get(path) != was.kept[path]:
                        changed.append(path)
                elif now.links.get(path, "") != was.links.get(path, "") or now.kept.get(path, "") not in {"", *before}:
                    moved += self._move(top, was, path)
            rest = Found(room=_MOST_LOOKED_AT)
            stripped = _strip(top, was, rest, began_ns)
        wrote = {path: digest for path, digest in now.rules.items() if digest != was.rules.get(path)}
        rules = [self._note(was, path, wrote[path]) for path in sorted(wrote) if not is_released(path, was.allowed)]
        missed = now.missed or rest.missed
        return Swept(tuple(moved), tuple(changed), bool(missed), missed, tuple(stripped), tuple(rules))

    def _note(self, was: Baseline, path: str, digest: str) -> Quarantined:
        """Write down that a file of rules, which stays where it is, is not the person's; once, if it is found again."""
        for row in self.rows():
            if (row.session, row.directory, row.path, row.rules) == (was.session, was.directory, path, digest):
                return row
        id = f"q_{secrets.token_hex(8)}"
        return self._keep(Quarantined(id, was.session, was.directory, path, f"{was.directory}/{path}", _now(), digest))

    def _keep(self, row: Quarantined) -> Quarantined:
        self._kept.mkdir(mode=0o700, exist_ok=True)
        (self._kept / f"{row.id}.json").write_bytes(msgspec.json.encode(row))
        return row

    def _move(self, top: int, was: Baseline, path: str) -> list[Quarantined]:
        """Move one out; nothing when it has gone by itself."""
        self._kept.mkdir(mode=0o700, exist_ok=True)
        id = f"q_{secrets.token_hex(8)}"
        try:
            with opened_above(top, path) as (folder, name):
                _let_move(folder, name)
                kept = self._kept / id
                try:
                    os.rename(name, kept, src_dir_fd=folder)
                except OSError as error:
                    if error.errno != errno.EXDEV:
                        raise
                    aside = f"{name}.stead-quarantined-{id}"
                    os.rename(name, aside, src_dir_fd=folder, dst_dir_fd=folder)
                    kept = Path(was.directory, path).with_name(aside)
                if path in was.links:
                    os.symlink(was.links[path], name, dir_fd=folder)
        except FileNotFoundError:
            return []
        return [self._keep(Quarantined(id, was.session, was.directory, path, str(kept), _now()))]


def _baseline(path: Path) -> Baseline | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Baseline)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None


def _within(was: Baseline, directory: str, path: str) -> str:
    """A path of a folder as a machine's folder has it; "" when it does not."""
    whole = f"{directory}/{path}"
    return whole.removeprefix(was.directory + "/") if whole.startswith(was.directory + "/") else ""


def _now() -> int:
    return time.time_ns() // 1_000_000


def _remove_rules(row: Quarantined) -> None:
    """Remove a file of rules from the folder, unless it is another one by now."""
    try:
        with opened_workspace(row.directory) as top, opened_above(top, row.path) as (folder, name):
            if rules_digest(folder, name) == row.rules:
                os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return  # it has gone by itself
    except OSError as error:
        raise Conflict(f"{row.path!r} cannot be removed from {row.directory!r}: {error.strerror}") from error


def _overlap(one: str, other: str) -> bool:
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


def _strip(top: int, was: Baseline, found: Found, began_ns: int) -> list[str]:
    """Take set-user and set-group bits from files that a machine may have made or written, also in packages.

    No machine can set them; but a file that had one can be written through a memory map and keep it.

    Args:
        top: descriptor of the folder.
        was: what was shown read-only.
        found: told what could not be looked at.
        began_ns: files whose state is older are left.
    """
    stripped = []
    owner = os.fstat(top).st_uid
    for folder, above, entries in walk(top, "", found, lambda path, _name: path not in was.kept):
        for entry in entries:
            try:
                if not entry.is_file(follow_symlinks=False) or not entry.stat(follow_symlinks=False).st_mode & _SET_ID:
                    continue
                fd = os.open(entry.name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            except FileNotFoundError:
                continue
            try:
                status = os.fstat(fd)
                if status.st_mode & _SET_ID and status.st_uid == owner and status.st_ctime_ns >= began_ns:
                    os.chmod(f"/proc/self/fd/{fd}", stat.S_IMODE(status.st_mode) & ~_SET_ID)
                    stripped.append(above + entry.name)
            finally:
                os.close(fd)
    return stripped


def _is_planted(was: Baseline, path: str) -> bool:
    """Not what was there, nor what lies in it: all of that is shown read-only."""
    above = [path, *(path[:at] for at, letter in enumerate(path) if letter == "/")]
    also = fold(path.rpartition("/")[2]) in ("head", "commondir") or is_released(path, was.named)
    held = is_protected(path, was.released) or (also and not is_released(path, was.released))
    return held and not any(one in was.kept or one in was.links for one in above)


def _let_move(folder: int, name: str) -> None:
    """A folder that its owner may not write cannot be moved into another one, nor anything be moved out of it."""
    above = os.fstat(folder)
    if stat.S_IMODE(above.st_mode) & 0o700 != 0o700 and above.st_uid == os.geteuid():
        os.fchmod(folder, stat.S_IMODE(above.st_mode) | 0o700)
    try:
        fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return  # the rename will say why
    try:
        mode = os.fstat(fd).st_mode
        if stat.S_ISDIR(mode) and mode & 0o700 != 0o700:
            os.chmod(f"/proc/self/fd/{fd}", 0o700)
    finally:
        os.close(fd)


def _put_back(row: Quarantined) -> None:
    try:
        with opened_workspace(row.directory) as top, opened_above(top, row.path) as (folder, name):
            if name in os.listdir(folder):
                raise Conflict(f"there is another {row.path!r} in {row.directory!r}; move it away first")
            os.rename(row.kept, name, dst_dir_fd=folder)
    except OSError as error:
        raise Conflict(f"{row.path!r} cannot be put back: {error.strerror}; it is at {row.kept!r}") from error
