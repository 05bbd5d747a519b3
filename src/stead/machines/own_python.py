"""What a machine shows for a program of Stead's own: the daemon's interpreter and packages, in place of toolchains.

Layer: machines. Of the interpreter's folder, which may be one that a person also keeps other things in, only programs
and libraries are shown; of an environment, only its packages.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from stead.machines.host import Host
from stead.machines.toolchains import Shown, Toolchains

_AT = "/stead-channel"
_PYTHON = f"{_AT}/python"
_PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


@dataclass(frozen=True)
class OwnPython(Toolchains):
    """Shows these, read-only, in places of their own."""

    private: tuple[str, ...] = ()

    def look(self) -> Shown:
        """What there is now."""
        prefix = _prefix()
        programs = [(f"{prefix}/{name}", f"{_PYTHON}/{name}") for name in ("bin", "lib", "lib64") if prefix]
        packages = [(path, f"{_AT}/packages{number}") for number, path in enumerate(_packages())]
        shown = [*programs, *packages, (_PACKAGE, f"{_AT}/code/stead")]
        return Shown(tuple((path, at) for path, at in shown if os.path.isdir(path) and not os.path.islink(path)))


def with_own_python(host: Host) -> Host:
    """The host, for machines that show these and no toolchain."""
    return replace(host, tools=host.tools and replace(host.tools, toolchains=OwnPython()))


def python_line(module: str) -> tuple[Sequence[str], Mapping[str, str]]:
    """The words that run a module of Stead's inside, and what its environment needs for it."""
    prefix, program = _prefix(), _program()
    path = [f"{_AT}/code", *(f"{_AT}/packages{number}" for number, _ in enumerate(_packages()))]
    environment = {"PYTHONPATH": ":".join(path), "PYTHONDONTWRITEBYTECODE": "1"}
    if prefix:
        environment["LD_LIBRARY_PATH"] = f"{_PYTHON}/lib"  # of one that was built with an absolute path to its library
    program = _PYTHON + program.removeprefix(prefix) if prefix else program
    # It looks neither where it starts nor at a user's packages, and no .pth file adds a path of the host's.
    return (program, "-P", "-s", "-S", "-m", module), environment


def _prefix() -> str:
    """Where the interpreter is; "" when it is below ``/usr``, which machines show."""
    prefix = os.path.realpath(sys.base_prefix)
    return "" if f"{prefix}/".startswith("/usr/") else prefix


def _program() -> str:
    """The interpreter itself, also in an environment that has a copy of it."""
    return os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)


def _packages() -> list[str]:
    """Where installed packages are imported from: also where only a path of the daemon's own leads, as to this one."""
    usual = (path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages"))
    found = (*usual, os.path.dirname(os.path.dirname(msgspec.__file__)))
    return [real for real in dict.fromkeys(map(os.path.realpath, found)) if os.path.isdir(real)]
