"""What every path of the simulator's API needs: refusals, pages, and bodies parsed as strictly as the product does."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import msgspec

from stead.domain.events import ModelRef

REHEARSAL = ModelRef("rehearsal", "rehearsal")


class Refused(Exception):
    """The request does not keep the contract, or asks for what cannot be."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


@dataclass(frozen=True)
class Markdown:
    """An answer that is no JSON."""

    text: str


def page(rows: list[Any], query: dict[str, str]) -> object:
    limit = int(query.get("limit", 50))
    if not 1 <= limit <= 500:
        raise Refused(400, "breach", f"limit {limit}")
    start = int(query.get("after") or 0)
    end = start + limit
    return {"items": rows[start:end], "next": str(end) if len(rows) > end else ""}


def parse(body: bytes, kind: type[Any]) -> Any:
    try:
        return msgspec.convert({**msgspec.json.decode(body)}, kind)
    except msgspec.MsgspecError as error:
        raise Refused(400, "breach", str(error)) from error


def parse_plain(body: bytes, names: set[str]) -> dict[str, Any]:
    value = msgspec.json.decode(body)
    if set(value) != names:
        raise Refused(400, "breach", f"fields {sorted(value)}, wanted {sorted(names)}")
    return dict(value)


def now_ms() -> int:
    return int(time.time() * 1000)
