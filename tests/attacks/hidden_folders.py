"""Plants what a person's programs act on, hides it, and says what was swept up. Run as an ordinary user.

``python -m tests.attacks.hidden_folders FOLDER`` prints, as JSON, for each way to hide: what was told at the machine's
end, whether it stands there still, and what became of the next machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from stead.config import Home
from stead.domain.errors import MachineUnavailable
from stead.domain.ids import CallDigest, CallKey, SessionId
from stead.domain.permits import Permit
from stead.domain.trials import Swept
from stead.machines.bubblewrap import BubblewrapMachines

SESSION = SessionId("s_0123456789abcdef")
PLANT = "mkdir -p docs/in/.git/hooks && echo evil > docs/in/.git/config && echo evil > docs/AGENTS.md"
LET = "let"
"""A folder that may be written though there are rules for agents in it."""
MODES = ("0", "100", "200", "300", "311", "333", "111", "055", "077", "500", "555", "711")
DEEP = "d=docs; for n in $(seq 50); do d=$d/d; done; mkdir -p $d/.git; echo evil > $d/.git/config"
WAYS = {
    **{f"mode {mode}": f"{PLANT}; chmod {mode} docs" for mode in MODES},
    **{f"inner mode {mode}": f"{PLANT}; chmod {mode} docs/in" for mode in MODES},
    **{f"planted mode {mode}": f"{PLANT}; chmod {mode} docs/in/.git docs/AGENTS.md" for mode in MODES},
    "repository": "mkdir -p docs/objects docs/refs && echo evil | tee docs/HEAD > docs/config; chmod 0 docs",
    "rules": "echo evil > RULES/AGENTS.md; chmod 0 RULES/AGENTS.md RULES".replace("RULES", LET),
    "both modes": f"{PLANT}; chmod 0 docs/in; chmod 0 docs",
    "the whole folder": f"{PLANT}; chmod 311 .",
    "too deep": DEEP,
    "too deep and closed": f"{DEEP}; chmod 0 docs",
}


async def hide(base: Path, number: int, command: str) -> dict[str, object]:
    """One way."""
    home, project = Home(base / f"home{number}"), base / f"project{number}"
    home.make()
    (project / LET).mkdir(parents=True)
    told: list[Swept] = []
    machines = BubblewrapMachines(home, on_swept=lambda _session, swept: told.append(swept))
    await run(machines, project, command)
    await machines.close()
    end = told[0] if told else Swept()
    left = subtree(project)
    machines = BubblewrapMachines(home, on_swept=lambda _session, swept: told.append(swept))
    try:
        project.chmod(0o755)
        again = await run(machines, project, "echo ran")
    except MachineUnavailable as refusal:
        again = str(refusal)
    await machines.close()
    rules = [row.path for swept in told for row in swept.rules]
    moved = sorted(row.path for swept in told for row in swept.moved)
    return {"moved": moved, "unseen": end.unseen, "where": end.where, "left": left, "again": again, "rules": rules}


async def run(machines: BubblewrapMachines, project: Path, command: str) -> str:
    machines.bind(SESSION, str(project), writable=True, released=(f"{LET}/AGENTS.md",))
    permit = Permit(
        session=SESSION, call=CallKey("call_1_0"), tool="shell", arguments={}, digest=CallDigest("d"), nonce=b"n" * 16
    )
    permit.spend("shell", {})
    ran = await machines.run(permit, command, timeout_s=30, cap_bytes=10_000, on_output=lambda _: None)
    return ran.output


def subtree(project: Path) -> list[str]:
    """What of the planted stands there, by its path, with every folder opened."""
    os.system(f"chmod -R u+rwx {project}")
    return sorted(str(path.relative_to(project)) for path in project.rglob("*") if path.name in (".git", "AGENTS.md"))


async def main(base: Path) -> dict[str, object]:
    """All of them, one after another."""
    return {way: await hide(base, number, command) for number, (way, command) in enumerate(WAYS.items())}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(Path(sys.argv[1])))))
