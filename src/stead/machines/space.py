"""Where a session's changes are, and what the machines of a folder keep between sessions.

Layer: machines. ``trials/SESSION`` in Stead's home holds ``layers/jobs`` (a folder for each transaction under way, with
what it changed in ``upper``), ``layers/pending`` (what has not reached the person's folder), ``away`` (what is about to
be removed), ``space.json``, and, for ``copies``, ``layers/view`` and a manifest for each copy. It outlives machines and
daemons. ``workspaces/NAME`` holds, for all sessions of one folder, ``kept`` (the machine layer: packages, caches) and
``home`` (the home folder inside). All but ``space.json`` and the manifests was made by machines and is hostile.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

import msgspec

from stead.config import Home
from stead.domain.errors import MachineUnavailable, NotFound, StorageFault
from stead.domain.ids import SessionId
from stead.machines.sandbox import OUTSIDE_USER, Workspace

_REMOVE_LIMIT_S = 120
_making = threading.Lock()


class Noted(msgspec.Struct, frozen=True):
    """What is written down about a session's changes.

    Args:
        directory: whose they are.
        began_ns: when the first of those that are pending was begun, by the clock that files are stamped with; 0 while
            nothing is pending, and where a landing was cut off before it was written down.
        applied: paths that were put into the person's folder since, and the stamp that they got.
        whole: everything that is pending waits for the person, whatever it is.
    """

    directory: str
    began_ns: int = 0
    applied: dict[str, int] = {}
    whole: bool = False


class Space:
    """One session's.

    Args:
        home: Stead's own.
        session: whose changes they are.
        directory: the person's folder, absolute and real; "" for the one that it was made for.

    Raises:
        NotFound: there is none yet, and no folder was given.
        StorageFault: what is written down about it cannot be read.
    """

    def __init__(self, home: Home, session: SessionId, directory: str = "") -> None:
        self.root = home.root / "trials" / session
        self.away = self.root / "away"
        self.layers = self.root / "layers"
        self.pending = self.layers / "pending"
        self.jobs = self.layers / "jobs"
        self._file = self.root / "space.json"
        if not directory and not self._file.exists():
            raise NotFound(f"no changes of {session!r} wait; see `stead held list`")
        self.directory = directory or self.noted().directory
        self._shared = home.root / "workspaces" / hashlib.sha256(os.fsencode(self.directory)).hexdigest()[:32]
        self.kept = self._shared / "kept"

    def prepare(self) -> Workspace:
        """Create the space, or reuse the one there is; gives what a machine shows.

        Raises:
            MachineUnavailable: this home's disk cannot hold changes; says what is missing.
        """
        try:
            with _making:
                return self._prepare()
        except OSError as error:
            raise MachineUnavailable(
                "no place for changes could be made in {!r}: {}; see `stead doctor`", str(self.root), error
            ) from error

    def _prepare(self) -> Workspace:
        if not self._file.exists() or (self.noted().directory != self.directory and not os.listdir(self.pending)):
            self._make()
        if self.noted().directory != self.directory:
            raise MachineUnavailable("the session's changes are of {!r}; settle them first", self.noted().directory)
        for folder in (self.kept, self._shared / "home", self.away):
            self._folder(folder)
        return Workspace(self.directory, str(self.layers), str(self.kept), str(self._shared / "home"))

    def discard(self) -> None:
        """Throw all that is pending away, for good. No machine may be at work on it."""
        remove_tree(str(self.root))

    def put_away(self) -> None:
        """Remove what landings have replaced."""
        if not self.away.exists():
            return
        with os.scandir(self.away) as listing:
            for entry in listing:
                with suppress(FileNotFoundError):  # another thread was faster
                    os.unlink(entry.path)

    def left(self) -> list[str]:
        """Transactions that were left unfinished."""
        return os.listdir(self.jobs) if self.jobs.exists() else []

    def _make(self) -> None:
        remove_tree(str(self.root))
        self.root.mkdir(mode=0o700, parents=True)
        for folder in (self.layers, self.pending, self.jobs):
            self._folder(folder)
        self.pending.chmod(os.stat(self.directory).st_mode & 0o777 | 0o700)
        self.note(Noted(self.directory))

    def _folder(self, folder: Path) -> None:
        if not folder.exists():
            folder.mkdir(mode=0o700, parents=True)
            if os.geteuid() == 0:
                os.chown(folder, OUTSIDE_USER, OUTSIDE_USER)

    def noted(self) -> Noted:
        """What is written down.

        Raises:
            StorageFault: it cannot be read.
        """
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=Noted)
        except (OSError, msgspec.MsgspecError) as error:
            raise StorageFault(
                f"{str(self._file)!r} cannot be read: {error}; the changes are in {str(self.pending)!r}"
            ) from error

    def note(self, noted: Noted) -> None:
        """Write down what holds now; on disk when this returns."""
        if self._file.exists() and noted == self.noted():
            return
        fresh = self._file.with_suffix(".new")
        with open(fresh, "wb") as file:
            file.write(msgspec.json.encode(noted))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._file)


def new_job() -> str:
    """A name for a transaction."""
    return str(secrets.randbits(48) + 1)


def remove_tree(path: str) -> None:
    """Remove what a machine has made, however deep it is nested and whatever modes it has. No link is followed.

    Raises:
        StorageFault: something of it is still there.
    """
    if not os.path.lexists(path):
        return
    if os.path.isdir(path) and not os.path.islink(path):  # coreutils walk by descriptors, so depth is no matter
        subprocess.run(["chmod", "-R", "u+rwx", "--", path], capture_output=True, timeout=_REMOVE_LIMIT_S, check=False)
    done = subprocess.run(["rm", "-rf", "--", path], capture_output=True, timeout=_REMOVE_LIMIT_S, check=False)
    if os.path.lexists(path):
        said = done.stderr.decode("utf-8", "replace").strip()[:300]
        raise StorageFault(f"{path!r} could not be removed: {said}; remove it by hand")
