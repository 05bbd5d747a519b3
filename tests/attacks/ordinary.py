"""Running a part of the tests as an ordinary user, when the tests themselves are run by root.

What is run must be readable by that user wherever the checkout and its interpreter lie, so it is copied.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import cryptography
import h11
import msgspec

import stead

USER = 61234
"""An id that nobody has."""


def as_ordinary_user(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run ``python -m`` with these words as an ordinary user, with Stead, what its machines need, and the attacks.

    Args:
        folder: empty, below folders that everybody may enter; it becomes the user's home.
        words: the module and its arguments.
    """
    library = folder / "library"
    for package in (stead, msgspec, h11, cryptography):
        source = Path(package.__file__ or "").parent
        shutil.copytree(source, library / source.name, ignore=shutil.ignore_patterns("static"))  # with what is compiled
    for name in ("_cffi_backend", "typing_extensions"):  # single files that cryptography needs
        found = importlib.util.find_spec(name)
        if found and found.origin:
            shutil.copy(found.origin, library)
    attacks = Path(__file__).parent
    shutil.copytree(attacks, library / "tests/attacks", ignore=shutil.ignore_patterns("__pycache__", "test_*"))
    (library / "tests/__init__.py").touch()
    python, prefix = _readable_python(folder)
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(library), "HOME": str(folder), "PYTHONHOME": prefix}
    subprocess.run(["chown", "-R", f"{USER}:{USER}", str(folder)], check=True)
    return subprocess.run(
        ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--", python, "-B", "-m", *words],
        env={name: value for name, value in environment.items() if value},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=200,
    )


def _readable_python(folder: Path) -> tuple[str, str]:
    """An interpreter of this very version that everybody may run, and its prefix, "" for its own."""
    own = Path(os.path.realpath(sys.executable))
    if all(parent.stat().st_mode & 0o001 for parent in own.parents):
        return str(own), ""
    system = Path("/usr/bin") / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    if system.exists():
        return str(system), ""
    prefix = folder / "python"
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    ignored = shutil.ignore_patterns("site-packages", "test", "idlelib", "tkinter")
    shutil.copytree(Path(sys.base_prefix) / "lib" / version, prefix / "lib" / version, ignore=ignored)
    (prefix / "bin").mkdir()
    shutil.copy(own, prefix / "bin/python")
    return str(prefix / "bin/python"), str(prefix)
