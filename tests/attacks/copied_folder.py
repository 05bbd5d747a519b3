"""A machine over a folder that no overlay can be laid over, as ``python -m`` for an ordinary user's daemon."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from stead.config import Home
from stead.machines.bubblewrap import BubblewrapMachines
from tests.attacks.escape_host import SESSION, _permit


async def main(base: Path) -> None:
    """Run commands in ``base/project`` with and without leave to change it, and print what came of them."""
    home = Home(base / "stead-home")
    home.make()
    machines = BubblewrapMachines(home)
    said: list[list[object]] = []
    try:
        for writable, command in (
            (True, "cat theirs; echo held > AGENTS.md; echo new > new; rm old"),
            (True, "cat AGENTS.md; ls"),
            (False, "touch more; ls"),
        ):
            machines.bind(SESSION, str(base / "project"), writable=writable)
            ran = await machines.run(_permit(), command, timeout_s=20, cap_bytes=9999, on_output=lambda _: None)
            said.append([ran.output, *ran.landing.landed])
        said.append([machines.isolation().copies])
    finally:
        await machines.close()
    print(json.dumps(said))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
