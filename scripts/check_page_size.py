"""What a browser must load before the page shows anything, in bytes on the wire, against what it may be.

It follows the index: its scripts, what it preloads, its style sheets, and whatever those scripts import at their head;
not what they import later. Fonts do not hold the first paint back and are counted with the whole page alone.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath

PAGE = Path(__file__).parents[1] / "src" / "stead" / "web" / "static"
INITIAL_SCRIPT_BYTES = 150_000
"""What scripts may weigh, compressed, before the first paint (bar U1)."""
PAGE_BYTES = 3_000_000
"""What all of the page may take in a wheel, which is compressed as well."""
_IMPORT = re.compile(r"""(?:^|[;}\s])(?:import|export)\s*(?:[\w$*{},\s]*?\bfrom\s*|\s*)["'](\.{1,2}/[^"']+)["']""")


@dataclass(frozen=True)
class Sizes:
    """Bytes as they are sent: compressed where the build did so or a server would.

    Args:
        script: of all that is loaded before the first paint.
        style: likewise.
        files: names of what was counted, as below the page's folder.
    """

    script: int
    style: int
    files: tuple[str, ...]


class _Index(HTMLParser):
    """Reads the index and keeps what it loads."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what is loaded with the document."""
        said = {name: value or "" for name, value in attrs}
        if tag == "script" and "src" in said:
            self.loads.append(said["src"])
        if tag == "link" and said.get("rel") in ("modulepreload", "stylesheet"):
            self.loads.append(said["href"])


def measure(page: Path = PAGE) -> Sizes:
    """The sizes of a built page.

    Raises:
        FileNotFoundError: it is not built, or names a file that is not there.
    """
    index = _Index()
    index.feed((page / "index.html").read_text("utf-8"))
    todo = [name.removeprefix("/") for name in index.loads]
    weights: dict[str, int] = {}
    while todo:
        name = todo.pop()
        if name not in weights:
            weights[name] = _weight(page / name)
            todo += _imports(page, name)
    script = sum(weight for name, weight in weights.items() if not name.endswith(".css"))
    return Sizes(script, sum(weights.values()) - script, tuple(sorted(weights)))


def _imports(page: Path, name: str) -> Iterator[str]:
    if name.endswith(".css"):
        return
    for found in _IMPORT.findall((page / name).read_text("utf-8")):
        parts: list[str] = []
        for part in (PurePosixPath(name).parent / found).parts:
            if part == "..":
                parts.pop()
            else:
                parts.append(part)
        yield "/".join(parts)


def _weight(file: Path) -> int:
    packed = file.with_name(f"{file.name}.gz")
    return packed.stat().st_size if packed.exists() else len(gzip.compress(file.read_bytes(), 9))


def main() -> int:
    """Print the sizes; fails when a script's bar is broken."""
    sizes = measure()
    print(f"initial scripts {sizes.script / 1000:.1f} kB gz of {INITIAL_SCRIPT_BYTES / 1000:.0f}")
    print(f"initial styles  {sizes.style / 1000:.1f} kB gz")
    return 1 if sizes.script > INITIAL_SCRIPT_BYTES else 0


if __name__ == "__main__":
    sys.exit(main())
