"""Secrets planted in a running home, and a search for them in every byte that leaves it (bar S9).

A new place where secrets are kept is one more ``plant``; a new way out is one more entry of ``everything_that_left``.
"""

from __future__ import annotations

import base64
import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from stead.client import ApiError
from tests.fakes.models import Seen
from tests.flows.house import LivingHome

COMMANDS = (
    ("status",),
    ("doctor",),
    ("providers", "list"),
    ("objectives",),
    ("logs",),
    ("disk",),
    ("usage",),
    ("approvals", "--all"),
)


@dataclass(frozen=True)
class Canary:
    """One planted secret. ``where`` says in which place it may stand."""

    where: str
    value: str

    def forms(self) -> dict[str, bytes]:
        """How it could be written: as it is, backwards, and in the encodings that a program or a model would use."""
        raw = self.value.encode()
        found = {
            "plain": raw,
            "backwards": raw[::-1],
            "hex": raw.hex().encode(),
            "HEX": raw.hex().upper().encode(),
            "url": quote(self.value, safe="").encode(),
            "every byte url": "".join(f"%{byte:02x}" for byte in raw).encode(),
            "JSON": "".join(f"\\u{byte:04x}" for byte in raw).encode(),
            "UTF-16": self.value.encode("utf-16-le"),
            "base32": base64.b32encode(raw).rstrip(b"=")[:-1],
        }
        # In base64 a text looks different at each of three places; its first and last letters depend on neighbours.
        for shift in range(3):
            encoded = base64.b64encode(b"\0" * shift + raw).rstrip(b"=")
            found[f"base64, {shift} further on"] = encoded[shift + 2 : -2]
        return found


@dataclass
class Planted:
    """What was planted.

    Args:
        house: has not been started yet when the environment is planted.
        canaries: see there.
    """

    house: LivingHome
    canaries: list[Canary] = field(default_factory=list)

    def plant(self, where: str, value: str = "") -> str:
        """Remember a secret, or make one; gives it."""
        made = value or f"sk-canary-{secrets.token_hex(16)}"
        self.canaries.append(Canary(where, made))
        return made

    def found_in(self, name: str, content: bytes) -> list[str]:
        """Which of them a piece of output has, in which form."""
        return [
            f"{name}: the {canary.where}, {form}"
            for canary in self.canaries
            for form, text in canary.forms().items()
            if text in content
        ]


def everything_that_left(
    house: LivingHome, project: Path, seen: list[Seen], sessions: list[str]
) -> Iterator[tuple[str, bytes]]:
    """(where, what) of each byte that left the daemon, or could be read by somebody else."""
    for number, request in enumerate(seen):
        headers = {name: value for name, value in request.request.headers.items() if name != "authorization"}
        yield f"prompt {number}", request.request.body + json.dumps(headers).encode() + request.request.path.encode()
    for path in sorted(house.root.rglob("*")):
        # The key and the door's address are the person's own files; the recovery key is shown once.
        if path.is_file() and path not in (house.home.key, house.home.address, house.home.run / "recovery.txt"):
            yield f"file {path.relative_to(house.root)}", path.read_bytes()
    for path in sorted(project.rglob("*")):
        if path.is_file():
            yield f"workspace {path.name}", path.read_bytes()
    yield from _answers(house, sessions)
    for words in COMMANDS:
        done = house.cli(*words)
        yield f"stead {' '.join(words)}", (done.stdout + done.stderr).encode()


def _answers(house: LivingHome, sessions: list[str]) -> Iterator[tuple[str, bytes]]:
    """What every GET of the API says, and what some refusals do."""
    yield "every event", json.dumps(house.events()).encode()
    approvals = house.get("/approvals", status="all", limit=500)["items"]
    known: Mapping[str, list[str]] = {"session": sessions, "approval": [row["id"] for row in approvals][:5]}
    for path, ways in house.get("/openapi.json")["paths"].items():
        if "get" not in ways or path == "/events/stream":
            continue
        named = re.findall(r"\{(\w+)\}", path)
        for value in known.get(named[0], ["nobody"]) if named else [""]:
            where = path.replace("{" + named[0] + "}", value) if named else path
            query: dict[str, str | int] = {"q": "canary"} if path == "/search" else {}
            try:
                yield f"GET {where}", json.dumps(house.get(where, **query)).encode()
            except ApiError as refused:
                yield f"GET {where}", str(refused).encode()


def descendants(pid: int) -> list[int]:
    """Every process below one."""
    parents: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                stat = Path(f"/proc/{name}/stat").read_text("utf-8", "replace")
            except OSError:
                continue
            parents.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(name))
    found: list[int] = []
    todo = [pid]
    while todo:
        children = parents.get(todo.pop(), [])
        found += children
        todo += children
    return found


def processes(pid: int) -> Iterator[tuple[str, bytes]]:
    """What the kernel tells of the daemon's command line, and of its children's command lines and environments."""
    yield "the daemon's command line", Path(f"/proc/{pid}/cmdline").read_bytes()
    for child in descendants(pid):
        for what in ("cmdline", "environ"):
            try:
                yield f"{what} of process {child}", Path(f"/proc/{child}/{what}").read_bytes()
            except OSError:
                # It has ended, or hides itself, which is as good.
                continue
