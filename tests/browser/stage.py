"""A home with a daemon that a test looks at in the browser: who lives there, what models say, how to get in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import StorageState

from tests.browser.plays import play
from tests.fakes.models import ServedModel
from tests.flows.house import LivingHome
from tests.flows.served import served


@dataclass
class Stage:
    """A running home, a folder to work in, and a model server that plays its parts (``plays.py``).

    ``ids`` names what was put there, such as ``ids["waiting"]``: see ``seeds.py``. ``signed_in`` is what a browser
    keeps once somebody has signed in.
    """

    house: LivingHome
    project: Path
    model: ServedModel
    ids: dict[str, str] = field(default_factory=dict)
    signed_in: StorageState | None = None

    @property
    def host(self) -> str:
        """The page's own host and port."""
        address = self.house.client().address
        return f"{address.name}.localhost:{address.port}"

    @property
    def origin(self) -> str:
        """Where the page is, without a path."""
        return f"http://{self.host}"

    def link(self) -> str:
        """A fresh one-time link, as ``stead open`` makes it."""
        return str(self.house.post("/sign-in-codes")["url"])


@contextmanager
def staged(root: Path, *, start: bool = True) -> Iterator[Stage]:
    """A fresh home below a folder. With ``start=False`` the daemon is started by whoever has filled the home."""
    project = filled(root / "quill")
    house = LivingHome(root / "home", forked=True, shared=True)
    with served(play) as model:
        try:
            if start:
                house.start()
            yield Stage(house, project, model)
        finally:
            house.stop()


def filled(folder: Path) -> Path:
    """A new folder to work in, with ``FILES``."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


FILES = {
    "README.md": "# Quill\n\nNotes of a small harbour.\n\n## Install\n\nNothing to install.\n\n## Use\n\nRead on.\n",
    "lamps.py": 'LAMPS = ["north", "south"]\n\n\ndef lit(name: str) -> bool:\n    return name in LAMPS\n',
    "notes/tides.md": "# Tides\n\n- high at 06:10\n- low at 12:25\n",
    "notes/boats.csv": "name,berths,paid\nHeron,4,120\nOtter,2,80\nTern,6,0\n",
}
"""What the folder holds."""
