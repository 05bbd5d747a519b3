"""Which extras are installed next to Stead, and what some take: run by the environment's own Python.

extras.py             the names of those that are there
extras.py NAME...     their requirements, as the Stead that is installed has them
"""

from __future__ import annotations

import re
import sys
from importlib import metadata


def requirements() -> dict[str, list[str]]:
    """The pins of each extra."""
    found: dict[str, list[str]] = {}
    for line in metadata.requires("stead") or ():
        if extra := re.search(r"extra == ['\"]([\w-]+)['\"]", line):
            found.setdefault(extra[1], []).append(line.partition(";")[0].strip())
    return found


def is_there(pin: str) -> bool:
    """Whether a package is installed, of whatever version."""
    try:
        metadata.version(re.split(r"[=\[<>~! ]", pin)[0])
    except metadata.PackageNotFoundError:
        return False
    return True


def main(names: list[str]) -> None:
    """Print what was asked for, a line each."""
    known = requirements()
    if names:
        print(*sorted({pin for name in names for pin in known.get(name, ())}), sep="\n")
    else:
        print(*(name for name, pins in known.items() if all(map(is_there, pins))), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
