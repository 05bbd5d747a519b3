"""Specialists as they are now: those that Stead brings, and the person's own in a folder of the home.

Layer: runtime. The folder is looked at whenever a specialist is wanted, so that an edit counts at once. A file of the
person's that cannot be read stands in the way of the bundled one of its name: nothing else is used in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from stead.domain.agents import SPAWN
from stead.domain.errors import InvalidRequest, NotFound
from stead.domain.front_matter import MOST_CHARS
from stead.domain.specialists import BUNDLED, Specialist, SpecialistFile, parse_specialist
from stead.domain.tools import ToolSpec

_PACKAGED = Path(__file__).parent.parent / "specialists"
_MOST_FILES = 200


class Specialists:
    """Finds specialists. Every method blocks for as long as small files take to be read.

    Args:
        folder: the person's; it need not be there.
        tools: names of all tools.
    """

    def __init__(self, folder: Path, tools: Callable[[], Sequence[str]] = tuple) -> None:
        self.folder = folder
        self._tools = tools
        self._read: dict[Path, tuple[tuple[int, int, int], SpecialistFile]] = {}

    def files(self) -> tuple[SpecialistFile, ...]:
        """Every specialist there is, by kind; the person's in place of a bundled one of the same name."""
        own = {path.stem: path for path in sorted(self.folder.glob("*.md"))[:_MOST_FILES]}
        found = [self._file(name, own) for name in (*BUNDLED, *(name for name in own if name not in BUNDLED))]
        return tuple(found)

    def specialist(self, kind: str) -> Specialist:
        """The specialist of a kind, as its file is now.

        Raises:
            NotFound: there is none.
            InvalidRequest: its file cannot be read as one; the text names the file and the line.
        """
        file = next((file for file in self.files() if file.kind == kind), None)
        if file is None:
            raise NotFound(
                f"there is no specialist {kind[:60]!r}; there are {', '.join(one.kind for one in self.files())}"
            )
        if file.specialist is None:
            raise InvalidRequest(f"{file.path}, {file.fault}; `stead specialist edit {kind}` opens it")
        return file.specialist

    def shown(self, spec: ToolSpec) -> ToolSpec:
        """The tool as ``find_tools`` shows it: ``spawn_agent`` with the specialists there are."""
        if spec.name != SPAWN:
            return spec
        kinds = (f"{one.kind}: {one.specialist.description}" for one in self.files() if one.specialist)
        return msgspec.structs.replace(spec, description=f"{spec.description} Specialists: {' '.join(kinds)}")

    def _file(self, kind: str, own: dict[str, Path]) -> SpecialistFile:
        path, source = own.get(kind, _PACKAGED / f"{kind}.md"), "person" if kind in own else "bundled"
        try:
            status = path.stat()
            state = (status.st_mtime_ns, status.st_size, status.st_ino)
        except OSError as error:
            return SpecialistFile(kind, source, str(path), None, f"line 1: it cannot be read ({error.strerror})")
        if path not in self._read or self._read[path][0] != state:
            self._read[path] = (state, self._parsed(kind, path, "person" if kind in own else "bundled"))
        return self._read[path][1]

    def _parsed(self, kind: str, path: Path, source: Literal["person", "bundled"]) -> SpecialistFile:
        overrides = source == "person" and kind in BUNDLED
        try:
            with path.open("rb") as file:
                text = file.read(4 * MOST_CHARS + 1).decode()
            specialist = parse_specialist(kind, text, source, self._tools())
        except (InvalidRequest, UnicodeDecodeError, OSError) as error:
            why = str(error) if isinstance(error, InvalidRequest) else f"line 1: it cannot be read ({error})"
            return SpecialistFile(kind, source, str(path), None, why, overrides)
        return SpecialistFile(kind, source, str(path), specialist, "", overrides)
