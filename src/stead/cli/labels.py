"""Short names of calls and models, as tables and lines show them.

Layer: cli. Pure.
"""

from __future__ import annotations

import json

from stead.cli import figures
from stead.cli.output import clean_line, cut_line
from stead.client import Json

_SUBJECTS = ("command", "path", "url", "pattern", "query")


def subject_of(arguments: str, limit: int = 72) -> str:
    """What a call is about, on one line: its command, path, URL or pattern, else its arguments."""
    try:
        values = json.loads(arguments)
    except ValueError:
        return cut_line(arguments, limit)
    if not isinstance(values, dict):
        return cut_line(arguments, limit)
    for name in _SUBJECTS:
        if isinstance(values.get(name), str):
            return cut_line(values[name], limit)
    if isinstance(values.get("steps"), list):
        return figures.counted(len(values["steps"]), "step")
    return cut_line(json.dumps(values, ensure_ascii=False), limit) if values else ""


def model_name(ref: Json) -> str:
    """A model as ``provider/model``; the rehearsal model is always labelled for what it is."""
    return clean_line(f"{ref['provider']}/{ref['model']}") + (" (no AI)" if ref["provider"] == "rehearsal" else "")
