"""All tries, read from the tables beside this file, one a kind.

A table has its ``kind``, ``parts`` that stand for ``@NAME@`` in its scripts, and one ``try`` a row, with the
fields of ``Try``. A command is a shell script, ``{type = script}`` in a terminal, or ``{write = path, text = …}``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.attacks.folder_to_host.attempt import COMMON, Step, Try, Typed, Wrote

_PART = re.compile("@([A-Z_]+)@")


def _read(path: Path) -> Iterator[Try]:
    table = tomllib.loads(path.read_text("utf-8"))
    parts: Mapping[str, str] = {**COMMON, **table.get("parts", {})}

    def whole(text: str) -> str:
        while (filled := _PART.sub(lambda match: parts.get(match[1], match[0]), text)) != text:
            text = filled
        return text

    def step(row: str | Mapping[str, str]) -> Step:
        if isinstance(row, str):
            return whole(row)
        return Typed(whole(row["type"])) if "type" in row else Wrote(row["write"], whole(row["text"]))

    for row in table["try"]:
        fields: dict[str, Any] = {**row, "kind": table["kind"], "commands": tuple(map(step, row["commands"]))}
        for name in ("then", "needs"):
            if name in fields:
                fields[name] = tuple(map(whole, fields[name]))
        yield Try(**{**fields, "before": whole(fields.get("before", ""))})


_ALL = [one for path in sorted(Path(__file__).parent.glob("*.toml")) for one in _read(path)]
TRIES: Mapping[str, Try] = {f"{one.kind}: {one.name}": one for one in _ALL}
"""By kind and name."""
if len(TRIES) < len(_ALL):
    raise ValueError("two tries have one name")
