"""Plants what a person's programs act on, hides it, and says what became of it. Run as an ordinary user.

``python -m tests.attacks.hidden_folders FOLDER`` prints, as JSON, for each way to hide: what was told with the call,
whether any of it stands in the person's folder, and what became of the next command.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from stead.config import Home
from stead.domain.ids import CallDigest, CallKey, SessionId
from stead.domain.permits import Permit
from stead.domain.ports import Ran
from stead.machines.bubblewrap import BubblewrapMachines

SESSION = SessionId("s_0123456789abcdef")
PLANT = "mkdir -p docs/in/.git/hooks && echo evil > docs/in/.git/config && echo evil > docs/AGENTS.md"
MODES = ("0", "100", "200", "300", "311", "333", "111", "055", "077", "500", "555", "711")
DEEP = "d=docs; for n in $(seq 50); do d=$d/d; done; mkdir -p $d/.git; echo evil > $d/.git/config"
WAYS = {
    **{f"mode {mode}": f"{PLANT}; chmod {mode} docs" for mode in MODES},
    **{f"inner mode {mode}": f"{PLANT}; chmod {mode} docs/in" for mode in MODES},
    **{f"planted mode {mode}": f"{PLANT}; chmod {mode} docs/in/.git docs/AGENTS.md" for mode in MODES},
    "repository": "mkdir -p docs/objects docs/refs && echo evil | tee docs/HEAD > docs/config; chmod 0 docs",
    "a closed file": "echo evil > AGENTS.md; chmod 0 AGENTS.md",
    "both modes": f"{PLANT}; chmod 0 docs/in; chmod 0 docs",
    "the whole folder": f"{PLANT}; chmod 311 .",
    "too deep": DEEP,
    "too deep and closed": f"{DEEP}; chmod 0 docs",
}


async def hide(base: Path, number: int, command: str) -> dict[str, object]:
    """One way."""
    home, project = Home(base / f"home{number}"), base / f"project{number}"
    home.make()
    project.mkdir()
    machines = BubblewrapMachines(home)
    landing = (await run(machines, project, command)).landing
    left = subtree(project)
    again = await run(machines, project, "echo ran")
    await machines.close()
    told = sorted(one.path for one in (*landing.held, *landing.refused))
    return {"told": told, "left": left, "again": again.output, "failed": landing.failed}


async def run(machines: BubblewrapMachines, project: Path, command: str) -> Ran:
    machines.bind(SESSION, str(project), writable=True)
    permit = Permit(
        session=SESSION, call=CallKey("call_1_0"), tool="shell", arguments={}, digest=CallDigest("d"), nonce=b"n" * 16
    )
    permit.spend("shell", {})
    return await machines.run(permit, command, timeout_s=30, cap_bytes=10_000, on_output=lambda _: None)


def subtree(project: Path) -> list[str]:
    """What of the planted stands there, by its path, with every folder opened."""
    os.system(f"chmod -R u+rwx {project}")
    return sorted(
        str(path.relative_to(project))
        for path in project.rglob("*")
        if path.name in (".git", "AGENTS.md", "HEAD", "config")
    )


async def main(base: Path) -> dict[str, object]:
    """All of them, one after another."""
    return {way: await hide(base, number, command) for number, (way, command) in enumerate(WAYS.items())}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(Path(sys.argv[1])))))
