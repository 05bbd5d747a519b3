"""Check the page's static files. `make ui` and `make check` run it; nothing is built, the page is plain files today.

The content policy of the page allows no script and no style inside the HTML and nothing from elsewhere, so a file that
needs either would be dead in the browser. Scripts are also parsed by Node where there is one.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

PAGE = Path(__file__).parents[1] / "src" / "stead" / "web" / "static"
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
TEXT = frozenset({".html", ".css", ".js", ".svg", ".json", ".txt", ".webmanifest"})


class Page(HTMLParser):
    """Reads one HTML file and keeps what is wrong with it."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.flaws: list[str] = []
        self._file = file
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Check the attributes, and remember what is to be closed."""
        if tag not in VOID:
            self._open.append(tag)
        for name, value in attrs:
            if name.startswith("on") or name == "style":
                self._flaw(f"{name}= on <{tag}> is dropped by the content policy")
            if name in ("src", "href") and (flaw := self._reference(value or "")):
                self._flaw(flaw)
        if tag in ("script", "style") and not any(name == "src" for name, _ in attrs):
            self._flaw(f"an inline <{tag}> is dropped by the content policy; put it into a file")

    def handle_endtag(self, tag: str) -> None:
        """Check that what ends was open."""
        if not self._open or self._open.pop() != tag:
            self._flaw(f"</{tag}> closes what is not open")

    def close(self) -> None:
        """Check that nothing is left open."""
        super().close()
        if self._open:
            self._flaw(f"<{self._open[-1]}> is never closed")

    def _reference(self, value: str) -> str:
        if re.match(r"([a-z]+:)?//", value):
            return f"{value!r} is on another host"
        path = value.split("#")[0].split("?")[0]
        if path in ("", "/") or path.startswith("/api/"):
            return ""
        known = [self._file.parent / path, PAGE / path.removeprefix("/").removeprefix("static/")]
        return "" if any(file.is_file() for file in known) else f"{value!r} names no file"

    def _flaw(self, text: str) -> None:
        self.flaws.append(f"{self._file.name}:{self.getpos()[0]}: {text}")


def flaws(file: Path, node: str | None) -> list[str]:
    """What is wrong with one file."""
    try:
        text = file.read_text("utf-8")
    except UnicodeDecodeError:
        return [f"{file.name}: is not UTF-8"]
    found = [
        f"{file.name}:{n}: space at the end" for n, line in enumerate(text.split("\n"), 1) if line != line.rstrip()
    ]
    if not text.endswith("\n"):
        found.append(f"{file.name}: the last line does not end")
    if file.suffix == ".html":
        page = Page(file)
        page.feed(text)
        page.close()
        found += page.flaws
    if file.suffix == ".css" and text.count("{") != text.count("}"):
        found.append(f"{file.name}: braces do not match")
    if file.suffix == ".js" and node:
        done = subprocess.run([node, "--check", file], capture_output=True, text=True, timeout=30)
        found += [f"{file.name}: {done.stderr.strip()}"] if done.returncode else []
    return found


def main() -> int:
    """Print what is wrong, or how much was looked at."""
    node = shutil.which("node")
    files = sorted(file for file in PAGE.rglob("*") if file.suffix in TEXT)
    found = [flaw for file in files for flaw in flaws(file, node)]
    for flaw in found:
        print(flaw)
    if not found:
        print(f"the page is {len(files)} static files, all in order{'' if node else ' (no node: scripts not parsed)'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
