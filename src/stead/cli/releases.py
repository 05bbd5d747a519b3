"""Releases on this computer: which are installed side by side, which one runs, and how another gets there.

Layer: cli. Knows no home. An installation is a folder with ``versions/VERSION``, each with everything that it needs,
``current``, a link to the one that runs, and ``previous``. The file ``unproven`` is there from a switch until the new
version has started well. A link is replaced in one step, so one of the two always runs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import stead
from stead.cli.invocation import FAILED, CommandError

SUMS = "SHA256SUMS"
_ARCHIVE = r"stead-(\d[0-9A-Za-z.]{0,30})-(?:linux-%s\.tar\.gz|py3-none-any\.whl)"
_SUMS_LIMIT, _READ_S, _BLOCK = 1 << 20, 30.0, 1 << 20


class File(NamedTuple):
    """A file of a release, as its sums name it."""

    version: str
    name: str
    sha256: str


def installation() -> Path | None:
    """The folder of the installation that this program runs from; None where it came by other ways."""
    for folder in Path(stead.__file__).resolve().parents:
        if folder.parent.name == "versions" and (folder.parent.parent / "current").is_symlink():
            return folder.parent.parent
    return None


def order(version: str) -> tuple[tuple[int, str], ...]:
    """A version to compare: numbers as numbers, and a word before the end (``1.0rc1`` before ``1.0``)."""
    parts = re.findall(r"\d+|[a-z]+", version)
    return (*((int(part), "") if part.isdigit() else (-2, part) for part in parts), (-1, ""))


def files_in(sums: str) -> list[File]:
    """What can be installed here of a release, by the text of its sums; the newest first, an archive before a wheel."""
    wanted = re.compile(r"([0-9a-f]{64})  (" + _ARCHIVE % os.uname().machine + ")")
    found = (wanted.fullmatch(line) for line in sums.splitlines())
    files = [File(match[3], match[2], match[1]) for match in found if match]
    return sorted(files, key=lambda file: (order(file.version), file.name.endswith(".gz")), reverse=True)


def read_sums(place: str) -> str:
    """The sums in a folder or below an https address.

    Raises:
        CommandError: there are none, or they cannot be had.
    """
    with _opened(place, SUMS) as blocks:
        return b"".join(blocks)[:_SUMS_LIMIT].decode("utf-8", "replace")


def bring(place: str, file: File, target: Path) -> None:
    """Copy a file of a release, and check it.

    Raises:
        CommandError: it cannot be had, or is not what the sums say.
    """
    from hashlib import sha256

    found = sha256()
    with _opened(place, file.name) as blocks, target.open("wb") as copy:
        for block in blocks:
            found.update(block)
            copy.write(block)
    if found.hexdigest() != file.sha256:
        cause = f"{file.name} is not what {SUMS} says: it was damaged or changed; nothing was installed"
        raise CommandError(cause, "take the release again", exit_code=FAILED, code="checksum")


@contextmanager
def _opened(place: str, name: str) -> Iterator[Iterator[bytes]]:
    from urllib.error import URLError
    from urllib.request import urlopen

    local = not place.startswith("https://")
    try:
        where = Path(place).expanduser().absolute() / name
        with where.open("rb") if local else urlopen(f"{place.rstrip('/')}/{name}", timeout=_READ_S) as source:  # noqa: S310
            if not local and not str(getattr(source, "url", "")).startswith("https://"):
                raise CommandError(f"{place} leads to an address without TLS", "take the release from elsewhere")
            yield iter(lambda: source.read(_BLOCK), b"")
    except (URLError, OSError) as error:
        why = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise CommandError(
            f"{place}: {name} cannot be read: {why}", "give the release's folder", code="release"
        ) from error


def install(root: Path, file: File, archive: Path) -> None:
    """Put a version next to the others, and see that it runs here; nothing is switched.

    Raises:
        CommandError: it is no release, needs other packages, or does not run on this system.
    """
    new = root / "versions" / f".new-{file.version}"
    shutil.rmtree(new, ignore_errors=True)  # of one that was killed
    try:
        (_unpack_wheel if file.name.endswith(".whl") else _unpack)(root, archive, file, new)
        said = subprocess.run([new / "bin/stead", "--version"], capture_output=True, text=True, timeout=60, check=False)
        if said.stdout.split() != ["stead", file.version]:
            why = (said.stderr or said.stdout).strip()[-300:]
            cause = f"Stead {file.version} does not run on this system: {why}"
            raise CommandError(cause, "nothing was changed", exit_code=FAILED, code="release")
        shutil.rmtree(root / "versions" / file.version, ignore_errors=True)
        new.rename(root / "versions" / file.version)
        os.sync()
    except (OSError, subprocess.TimeoutExpired) as error:
        cause = f"{file.name} cannot be unpacked into {str(root)!r}: {error}"
        raise CommandError(cause, "free some space, or fix its mode", exit_code=FAILED, code="release") from error
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _unpack(_: Path, archive: Path, file: File, new: Path) -> None:
    """An archive: files and folders below one folder, and nothing else."""
    import tarfile

    top = f"stead-{file.version}"
    new.mkdir()
    try:
        with tarfile.open(archive) as tar:
            for entry in tar:
                first, *below = entry.name.split("/")
                if first != top or ".." in below or not (entry.isdir() or entry.isreg()):
                    cause = f"{file.name} has an entry {entry.name!r}, which no release of Stead has"
                    raise CommandError(cause, "take it from where Stead is released", exit_code=FAILED, code="release")
                target = new.joinpath(*below)
                if entry.isdir():
                    target.mkdir(exist_ok=True)
                elif content := tar.extractfile(entry):
                    with target.open("xb") as out:
                        shutil.copyfileobj(content, out, _BLOCK)
                    target.chmod(0o755 if entry.mode & 0o100 else 0o644)
    except (tarfile.TarError, EOFError) as error:
        raise CommandError(f"{file.name} is no archive: {error}", "take it again", code="release") from error


def _unpack_wheel(root: Path, archive: Path, file: File, new: Path) -> None:
    """A wheel: the running version's tree with another Stead in it, where both need the same packages."""
    from importlib.metadata import requires
    from zipfile import BadZipFile, ZipFile

    running = Path(stead.__file__).resolve().parent.parent
    try:
        with ZipFile(archive) as wheel:
            about = wheel.read(f"stead-{file.version}.dist-info/METADATA").decode().partition("\n\n")[0]
            needs = {line[15:] for line in about.splitlines() if line.startswith("Requires-Dist: ")}
            if _always(needs) != _always(requires("stead") or ()):
                cause = f"{file.name} needs other packages than this installation has"
                raise CommandError(cause, "take the release's archive: stead-VERSION-linux-...tar.gz", code="release")
            shutil.copytree((root / "current").resolve(), new, symlinks=True)
            site = new / running.relative_to((root / "current").resolve())
            for old in (site / "stead", *site.glob("stead-*.dist-info")):
                shutil.rmtree(old)
            wheel.extractall(site)  # noqa: S202 - checked against its sum, and no entry leaves the folder
    except (BadZipFile, KeyError) as error:
        raise CommandError(f"{file.name} is no wheel of Stead: {error}", "take it again", code="release") from error


def _always(needs: set[str] | list[str] | tuple[str, ...]) -> set[str]:
    return {"".join(need.split()) for need in needs if "extra ==" not in need}


def switch(root: Path, version: str) -> None:
    """Have another version run from now on; it is unproven."""
    _link(root / "previous", os.readlink(root / "current"))
    (root / "unproven").touch()
    _link(root / "current", f"versions/{version}")


def switch_back(root: Path) -> str:
    """Have the previous version run again; gives it, "" where there is none."""
    try:
        before = os.readlink(root / "previous")
    except FileNotFoundError:
        return ""
    if not (root / before / "bin/stead").exists():
        return ""
    _link(root / "current", before)
    (root / "unproven").unlink(missing_ok=True)
    (root / "previous").unlink()
    return before.rpartition("/")[2]


def settle(root: Path) -> None:
    """The running version has started well: those before the previous one go."""
    (root / "unproven").unlink(missing_ok=True)
    kept = {
        os.path.basename(os.readlink(root / name)) for name in ("current", "previous") if (root / name).is_symlink()
    }
    for old in (root / "versions").iterdir():
        if old.name not in kept:
            shutil.rmtree(old, ignore_errors=True)


def _link(link: Path, target: str) -> None:
    staged = link.with_name(f".{link.name}.part")
    staged.unlink(missing_ok=True)
    staged.symlink_to(target)
    staged.replace(link)
