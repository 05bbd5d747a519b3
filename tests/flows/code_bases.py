"""Real projects to work in: the sources that their makers publish, each with a bug that somebody could have made.

``scripts/setup.sh test`` gets the archives, pinned with hashes in ``requirements-code-bases.lock``.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ARCHIVES = Path(__file__).parents[2] / ".setup" / "code-bases"


@dataclass(frozen=True)
class CodeBase:
    """A project with a bug in it.

    Args:
        name: of the archive, without its version.
        path: the file that the bug is in.
        right: what stands there, once.
        wrong: what stands there instead.
        module: its tests that find the bug, as ``unittest`` names them.
        sources: where its packages are.
    """

    name: str
    path: str
    right: str
    wrong: str
    module: str
    sources: str = "."

    @property
    def command(self) -> str:
        """How its tests are run in its folder."""
        # Bytecode is dated by the second: an edit of the same size within it would not be seen.
        return f"PYTHONPATH={self.sources} python3 -B -m unittest {self.module}"

    def unpack(self, folder: Path) -> Path:
        """Its sources with the bug, in a new folder; the tests are seen to pass without it and to fail with it."""
        archives = sorted(ARCHIVES.glob(f"{self.name}-*.tar.gz"))
        assert len(archives) == 1, f"the sources of {self.name} are not there; run: make test"
        folder.mkdir()
        unpacked = ["tar", "-xzf", str(archives[0]), "--strip-components=1", "--no-same-owner", "-C", str(folder)]
        subprocess.run(unpacked, check=True, timeout=20)
        assert self.passes(folder)
        file = folder / self.path
        text = file.read_text("utf-8")
        assert text.count(self.right) == 1, f"{self.name} has no place for its bug any more"
        file.write_text(text.replace(self.right, self.wrong), "utf-8")
        assert not self.passes(folder)
        return folder

    def passes(self, folder: Path) -> bool:
        """Whether its tests pass, run outside of Stead."""
        done = subprocess.run(
            [sys.executable, "-B", "-m", "unittest", self.module],
            cwd=folder,
            env={"PYTHONPATH": self.sources, "PATH": "/usr/bin:/bin"},
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert b"Ran 0 tests" not in done.stderr and b"\nRan " in done.stderr, done.stderr[-500:]
        return done.returncode == 0


_READ = """\
    def __getitem__(self, key, cache_getitem=Cache.__getitem__):
        value = cache_getitem(self, key)
        try:
            self.__order.move_to_end(key{})
        except KeyError:  # __missing__ may not store item
"""
CACHETOOLS = CodeBase(
    "cachetools",
    "src/cachetools/__init__.py",
    _READ.format(""),
    _READ.format(", last=False"),
    "tests.test_lru",
    "src",
)
"""What was read last is thrown out first."""

JSONPOINTER = CodeBase(
    "jsonpointer",
    "jsonpointer.py",
    "    return s.replace('~1', '/').replace('~0', '~')\n",
    "    return s.replace('~0', '~').replace('~1', '/')\n",
    "tests.SpecificationTests",
)
"""An escaped tilde before a one is decoded twice (RFC 6901, section 4)."""

MISTUNE = CodeBase(
    "mistune",
    "src/mistune/plugins/table.py",
    'ALIGN_CENTER = re.compile(r"^ *:-+: *$")\n',
    'ALIGN_CENTER = re.compile(r"^ *:-: *$")\n',
    "tests.test_plugins",
    "src",
)
"""A column whose rule has more than one dash is not centred."""
