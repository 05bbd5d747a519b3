"""What the build backend runs before it makes a wheel or a source archive: the page is in it, or nothing is made.

A page that is there is taken as it is (`make wheel` builds it first, and a source archive has it), so whoever installs
Stead needs no Node. STEAD_SKIP_UI=1 leaves the page out on purpose: the daemon then says that it was not built. An
editable installation needs none; `make up` builds the page for it.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUILD_TIMEOUT_S = 900
STEPS = (("ci", "--ignore-scripts", "--no-audit", "--no-fund"), ("run", "build"))


class PageHook(BuildHookInterface[Any]):
    """Builds the page where it is missing."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called once before a build; ``version`` says of which kind.

        Raises:
            RuntimeError: there is no page and it could not be built; says why, and what to do.
        """
        root = Path(self.root)
        built = root / "src" / "stead" / "web" / "static" / "index.html"
        if version == "editable" or os.environ.get("STEAD_SKIP_UI") == "1" or built.is_file():
            return
        for step in STEPS:
            command = [root / "scripts" / "with_node.sh", "npm", "--prefix", root / "frontend", *step]
            done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_TIMEOUT_S, check=False)
            if done.returncode:
                said = (done.stdout + done.stderr).strip()[-2000:]
                raise RuntimeError(
                    f"the page is not built, and could not be: npm {step[0]} failed\n{said}\n"
                    "next: in a clone run make wheel, or set STEAD_SKIP_UI=1 to do without the page"
                )
