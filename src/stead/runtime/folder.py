"""The folder that a person names.

Layer: runtime.
"""

from __future__ import annotations

import os
from pathlib import Path

from stead.domain.errors import InvalidRequest


def folder(directory: str) -> str:
    """The real path of a folder that exists and may be entered.

    Raises:
        InvalidRequest: it is none.
    """
    if not os.path.isabs(directory):
        raise InvalidRequest(f"{directory!r} is not absolute; give the whole path of the folder to work in")
    try:
        path = Path(os.path.realpath(directory))
        exists = path.is_dir()
    except (OSError, ValueError) as error:
        raise InvalidRequest(f"{directory[:100]!r} is no path: {error}") from error
    if not exists:
        raise InvalidRequest(f"{directory!r} is no folder; make it first, or name another with --dir")
    if not os.access(path, os.R_OK | os.X_OK):
        raise InvalidRequest(f"{directory!r} may not be read by Stead's user; change its mode, or name another folder")
    return str(path)
