"""AgentDyn: a public fork of AgentDojo with tasks that cannot be planned to the end, and recorded runs of real models.

Its code and data are read where they are published and never kept in this repository: from a git directory that
``STEAD_BENCH_AGENTDYN`` names (a checkout or a bare one), or else from a clone below ``bench/out``. Two of its suites
are used. The third, ``dailylife``, is left to others, so that a guard that was built while looking at these two can be
measured on what it was not built for; nothing of its data is even unpacked.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from functools import lru_cache
from pathlib import Path

from bench.injection.agentdyn_tools import NAMINGS, TOOLS
from bench.injection.dojo import OUT, Recording, Source, read, recorded

COMMIT = "5353cf7615b135cace8d07c8f12dac53a16b6db3"
ADDRESS = "https://github.com/SaFo-Lab/AgentDyn.git"
VARIABLE = "STEAD_BENCH_AGENTDYN"
SUITES = ("shopping", "github")
MODELS = {
    "GPT-5.1": "gpt-5.1-2025-11-13",
    "Gemini 2.5 Pro": "google_gemini-2.5-pro",
    "GPT-4o": "gpt-4o-2024-08-06",
}
"""Models with recorded runs that no defence took part in, and the folder of each."""
RECORDER = Path(__file__).parent / "record_dyn.py"
AGENTDYN = Source(f"AgentDyn {COMMIT[:9]}, suites {' and '.join(SUITES)}", TOOLS, NAMINGS)


class Missing(Exception):
    """AgentDyn cannot be had here; the message says why and what to do."""


@lru_cache(maxsize=1)
def recording() -> Recording:
    """40 tasks and 360 pairs.

    Raises:
        Missing: see there.
    """
    return read(AGENTDYN, recorded("agentdyn", RECORDER, COMMIT, path=str(unpacked() / "src")))


@lru_cache(maxsize=1)
def unpacked() -> Path:
    """The folder with the fork's package and the runs of the models, unpacked first if it is missing.

    Raises:
        Missing: see there.
    """
    home = OUT / f"agentdyn-{COMMIT[:12]}"
    if not home.exists():
        git = _git()
        part = home.with_suffix(".part")
        part.mkdir(parents=True, exist_ok=True)
        wanted = ["src/agentdojo", ":(exclude)src/agentdojo/defenses", ":(exclude)src/agentdojo/data/suites/dailylife"]
        wanted += [f"runs/{model}/{suite}" for model in MODELS.values() for suite in SUITES]
        packed = part / "packed.tar"
        command = ["git", "-C", str(git), "archive", f"--output={packed}", COMMIT, *wanted]
        done = subprocess.run(command, check=False, timeout=600, capture_output=True, text=True)
        if done.returncode:
            raise Missing(f"{git} cannot unpack {COMMIT} ({done.stderr.strip()}); name a whole copy in {VARIABLE}")
        with tarfile.open(packed) as archive:
            archive.extractall(part, filter="data")
        packed.unlink()
        part.rename(home)
    return home


def _git() -> Path:
    """A git directory that holds the commit."""
    if named := os.environ.get(VARIABLE):
        if _holds(Path(named)):
            return Path(named)
        raise Missing(f"{VARIABLE} is {named}, which is no git directory with {COMMIT}; correct it or unset it")
    clone = OUT / "agentdyn.git"
    if not _holds(clone):
        print(f"cloning {ADDRESS} into {clone} ...", file=sys.stderr)
        OUT.mkdir(exist_ok=True)
        if not clone.exists():
            subprocess.run(["git", "init", "--quiet", "--bare", str(clone)], check=True, timeout=60)
        fetch = ["git", "-C", str(clone), "fetch", "--quiet", "--depth", "1", ADDRESS, COMMIT]
        try:
            done = subprocess.run(fetch, check=False, timeout=1800, capture_output=True, text=True)
        except subprocess.TimeoutExpired as late:
            raise Missing(f"{ADDRESS} took over half an hour; name a copy of it in {VARIABLE}") from late
        if done.returncode:
            raise Missing(f"{ADDRESS} cannot be read ({done.stderr.strip()}); name a copy of it in {VARIABLE}")
    return clone


def _holds(git: Path) -> bool:
    if not git.is_dir():
        return False
    asked = ["git", "-C", str(git), "cat-file", "-e", f"{COMMIT}^{{commit}}"]
    return subprocess.run(asked, check=False, timeout=60, capture_output=True).returncode == 0
