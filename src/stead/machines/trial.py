"""A session's folder of changes on trial: what an overlay writes to, instead of the person's folder.

Layer: machines. ``trials/SESSION`` in Stead's home holds ``upper`` (the changes), ``work`` (the kernel's own), two
empty folders to mount on, ``names`` (of the files that there were) and ``trial.json``. It outlives machines and
daemons, and ends when it is applied whole or thrown away. What is in ``upper`` was made by the machine and is hostile;
``changes`` reads it, ``applying`` carries it over.

Since the machine may rewrite its files in any way, no time stamp of theirs tells when it first touched one. So a file
of the person's counts as changed meanwhile when the kernel's own stamp of it (ctime, which nobody can set back) is
younger than the trial.
"""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Sequence

import msgspec

from stead.config import Home
from stead.domain.errors import MachineUnavailable, StorageFault
from stead.domain.ids import SessionId

OPTIONS = "userxattr,redirect_dir=nofollow,metacopy=off,index=off,xino=off"
"""Of the overlay. The marks that it makes in ``upper`` then have names that the kernel lets no machine use."""
_LIST_LIMIT_S = _REMOVE_LIMIT_S = 120


class _Kept(msgspec.Struct, frozen=True):
    directory: str
    began_ns: int
    applied: dict[str, int] = {}
    named: tuple[str, ...] = ()


class TrialFolder:
    """One session's.

    Args:
        home: Stead's own.
        session: whose changes they are.
    """

    def __init__(self, home: Home, session: SessionId) -> None:
        self.root = home.root / "trials" / session
        self.upper = self.root / "upper"
        self._file = self.root / "trial.json"
        self._names = self.root / "names"

    def exists(self) -> bool:
        """Whether there is a trial."""
        return self._file.exists()

    @property
    def directory(self) -> str:
        """The person's folder."""
        return self._read().directory

    @property
    def began_ns(self) -> int:
        """When it was made, by the clock that files are stamped with."""
        return self._read().began_ns

    @property
    def applied(self) -> dict[str, int]:
        """Paths that were applied already, and the stamp that they got."""
        return self._read().applied

    @property
    def named(self) -> tuple[str, ...]:
        """Paths that git's settings name in the person's folder."""
        return self._read().named

    def note_named(self, named: Sequence[str]) -> None:
        """Remember them; what was named once stays so."""
        kept = self._read()
        if missing := set(named) - set(kept.named):
            self._write(msgspec.structs.replace(kept, named=(*kept.named, *sorted(missing))))

    def had(self) -> frozenset[bytes]:
        """Paths of all files and links of the person's folder when the trial began."""
        return frozenset(self._names.read_bytes().split(b"\0"))

    def note_applied(self, stamps: dict[str, int]) -> None:
        """Remember that these changes of the person's folder are the trial's own."""
        kept = self._read()
        self._write(msgspec.structs.replace(kept, applied=kept.applied | stamps))

    def prepare(self, directory: str, owner: tuple[int, int]) -> None:
        """Make it, or take up what there is.

        Args:
            directory: the person's folder, absolute and real.
            owner: whom the upper folder's files are to belong to.

        Raises:
            MachineUnavailable: this home's disk cannot hold a trial; says what is missing.
        """
        if self.exists():
            if self.directory != directory:
                raise MachineUnavailable(
                    "the changes on trial are of {!r}; apply or discard them first", self.directory
                )
            return
        try:
            self._make(directory, owner)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise MachineUnavailable(
                "no trial could be made in {!r}: {}; see `stead doctor`", str(self.root), error
            ) from error

    def _make(self, directory: str, owner: tuple[int, int]) -> None:
        remove_tree(str(self.root))
        for folder in (self.upper, self.root / "work", self.root / "lower", self.root / "view"):
            folder.mkdir(mode=0o700, parents=True)
        try:
            os.setxattr(self.upper, "user.stead.trial", b"1")
        except OSError as error:
            if error.errno not in (errno.ENOTSUP, errno.EPERM, errno.ENOSPC):
                raise
            raise MachineUnavailable(
                "trial mode needs a disk with extended attributes, and that of {!r} has none; put "
                "Stead's home on ext4, xfs or btrfs (STEAD_HOME), or work without --trial",
                str(self.root),
            ) from error
        self.upper.chmod(os.stat(directory).st_mode & 0o777)
        if os.geteuid() == 0:
            os.chown(self.upper, *owner)
        with open(self._names, "wb") as names:
            list_all = ["find", directory, "-mindepth", "1", "-not", "-type", "d", "-printf", "%P\\0"]
            subprocess.run(list_all, stdout=names, stderr=subprocess.DEVNULL, timeout=_LIST_LIMIT_S, check=False)
        self._write(_Kept(directory, os.stat(self.upper).st_ctime_ns))

    def discard(self) -> None:
        """Throw it away, for good. No machine may be at work on it."""
        remove_tree(str(self.root))

    def _read(self) -> _Kept:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=_Kept)
        except (OSError, msgspec.MsgspecError) as error:
            raise StorageFault(
                f"{str(self._file)!r} cannot be read: {error}; the changes are in {str(self.upper)!r}"
            ) from error

    def _write(self, kept: _Kept) -> None:
        fresh = self._file.with_suffix(".new")
        with open(fresh, "wb") as file:
            file.write(msgspec.json.encode(kept))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._file)


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
