"""P12: size and packages of an install without extras, in an environment of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.bar import Bar

ROOT = Path(__file__).parent.parent
UV = shutil.which("uv") or str(ROOT / ".uv" / "bin" / "uv")


def measure() -> list[Bar]:
    """What ``requirements.lock`` and Stead itself bring."""
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as name:
        venv = Path(name) / "venv"
        python = str(venv / "bin" / "python")
        subprocess.run([UV, "venv", "-q", "--python", sys.executable, str(venv)], check=True)
        into = [UV, "pip", "install", "-q", "--link-mode", "copy", "--python", python]
        subprocess.run([*into, "--require-hashes", "-r", str(ROOT / "requirements.lock")], check=True)
        subprocess.run([*into, "--no-deps", str(ROOT)], check=True)
        listed = subprocess.run(
            [UV, "pip", "list", "-q", "--format", "freeze", "--python", python],
            check=True,
            capture_output=True,
            text=True,
        )
        packages = len(listed.stdout.split())
        size_mb = sum(path.lstat().st_size for path in _files(venv)) / 1e6
    return [
        Bar(
            "P12",
            size_mb,
            "MB",
            "≤ 200",
            size_mb <= 200,
            {"peers, least": 242, "peers, most": 647},
            "files, no bytecode",
        ),
        Bar("P12.packages", packages, "packages", "≤ 70", packages <= 70, {"peers, least": 63, "peers, most": 330}),
    ]


def _files(folder: Path) -> list[Path]:
    return [Path(root) / file for root, _, files in os.walk(folder) for file in files]
