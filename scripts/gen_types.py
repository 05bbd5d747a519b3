"""Write the page's types, frontend/src/api/generated.ts, from the daemon's own OpenAPI document.

``make ui-types`` runs it; with ``--check`` it writes nothing and fails if what is there is not what it would write. It
needs Node, and what frontend/codegen names, which it installs when it is missing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from stead.providers.presets import PRESETS, REHEARSAL
from stead.web.api import describe

FRONTEND = Path(__file__).parents[1] / "frontend"
GENERATED = FRONTEND / "src" / "api" / "generated.ts"
HEAD = "// Written by `make ui-types` from the daemon's OpenAPI document. Do not edit.\n"


def generate() -> str:
    """The text of the file of types.

    Raises:
        subprocess.CalledProcessError: npm or the generator failed; what they said was shown.
    """
    codegen = FRONTEND / "codegen"
    if not (codegen / "node_modules").is_dir():
        subprocess.run(["npm", "ci", "--ignore-scripts"], cwd=codegen, check=True, stdout=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "openapi.json"
        source.write_bytes(describe(tuple(name for name in PRESETS if name != REHEARSAL)))
        target = Path(folder) / "generated.ts"
        program = codegen / "node_modules" / ".bin" / "openapi-typescript"
        command = [str(program), str(source), "--output", str(target), "--alphabetize"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "NO_COLOR": "1"})
        return HEAD + target.read_text()


def main() -> int:
    """Write, or check."""
    text = generate()
    if "--check" not in sys.argv[1:]:
        GENERATED.write_text(text)
        return 0
    if GENERATED.read_text() == text:
        return 0
    print(f"{GENERATED} is not what the daemon's API says; run: make ui-types", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
