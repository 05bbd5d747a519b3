"""A session that somebody works in, from outside: what they say, answer, look at and put back.

For flows, over HTTP and by the command line. Nothing here reaches into the product.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stead.client import ApiError
from tests.flows.house import DEADLINE_S, Json, LivingHome

REMADE = frozenset({"__pycache__", ".git"})
"""What no checkpoint has."""

Files = Mapping[str, tuple[int, bytes]]
"""Paths with mode and content."""


@dataclass
class Sitting:
    """One session of a living home.

    Args:
        house: whose.
        id: of the session.
    """

    house: LivingHome
    id: str

    @property
    def path(self) -> str:
        """Where it is in the API."""
        return f"/sessions/{self.id}"

    def row(self) -> Json:
        """As the list shows it."""
        return self.house.get(self.path)

    def say(self, text: str, **fields: object) -> None:
        """Send a message."""
        self.house.post(f"{self.path}/messages", {"text": text, **fields})

    def rest(self, *, answer: str = "once", timeout_s: float = DEADLINE_S) -> Json:
        """Answer every question in the same way until the session rests, or is held; gives its row."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            row = self.row()
            if row["status"] in ("idle", "paused", "closed"):
                return row
            if row["status"] == "waiting":
                self.answer(answer)
            else:
                time.sleep(0.02)
        raise AssertionError(f"{self.id} does not rest within {timeout_s} s: {self.row()}\n{self.house.log_tail()}")

    def answer(self, answer: str = "once") -> None:
        """Answer what is asked now; another answer may have been first, and a question may have lapsed."""
        for question in self.house.get("/approvals", session=self.id)["items"]:
            with contextlib.suppress(ApiError):
                body = {"answer": answer, "digest": question["digest"], "whole": True}
                self.house.post(f"/approvals/{question['id']}/decision", body)

    def turn(self, text: str, *, answer: str = "once", timeout_s: float = DEADLINE_S) -> Json:
        """Say something and wait until that turn is over; gives its end."""
        ended = len(self.bodies("turn.ended"))
        self.say(text)
        self.rest(answer=answer, timeout_s=timeout_s)
        ends = self.bodies("turn.ended")
        assert len(ends) == ended + 1, f"the turn did not end: {self.row()}\n{self.house.log_tail()}"
        return ends[-1]

    def events(self) -> list[Json]:
        """Everything that happened in it."""
        return self.house.events(self.id)

    def bodies(self, kind: str) -> list[Json]:
        """What happened of one kind."""
        return self.house.bodies(self.id, kind)

    def items(self, what: str, **query: str | int) -> list[Json]:
        """A list that the session has, like its checkpoints."""
        return list(self.house.client().items(f"{self.path}/{what}", **query))

    def checkpoint(self, note: str = "") -> Json:
        """Keep everything as it is now; gives the checkpoint."""
        return self.command("checkpoint", self.id, "--note", note)

    def restore(self, checkpoint: str, *options: str, code: int = 0) -> Json:
        """Go back to a checkpoint by the command line, which leaves with ``code``; gives what that did."""
        return self.command("restore", self.id, checkpoint, *options, code=code)

    def waiting(self) -> dict[str, Json]:
        """Changes that wait for the person, by path."""
        try:
            return {change["path"]: change for change in self.house.get(f"/objectives/{self.id}/trial")["changes"]}
        except ApiError as none:
            assert none.status == 404
            return {}

    def apply(self, *paths: str) -> None:
        """Let changes that wait into the folder; all of them when none is named."""
        self.house.post(f"/objectives/{self.id}/trial/apply", {"paths": paths})
        assert not self.bodies("trial.applied")[-1]["held"]

    def undo(self, change: Json, *, again: bool = False) -> None:
        """Put back what a call changed."""
        body = {"path": change["change"]["path"], "again": again}
        self.house.post(f"{self.path}/changes/{change['key']}/undo", body)

    def fork(self, *, at: int = 0, directory: str = "") -> Sitting:
        """Go on from a moment of it in another session, by the command line."""
        into = ("--into", directory) if directory else ()
        return Sitting(self.house, str(self.command("fork", self.id, "--at", str(at), *into)["session"]))

    def command(self, *words: str, code: int = 0) -> Json:
        """``stead session WORDS --json``; gives what it prints."""
        done = self.house.cli("session", *words, "--json")
        assert done.returncode == code, (words, done.returncode, done.stdout[-1000:], done.stderr[-1000:])
        found: Json = json.loads(done.stdout)
        return found


def sit_down(house: LivingHome, directory: Path, **fields: object) -> Sitting:
    """Open a session in a folder, one that asks before it writes and runs unless said otherwise."""
    body = {"directory": str(directory), "profile": "ask", **fields}
    return Sitting(house, str(house.post("/sessions", body)["session"]))


def files_of(folder: Path, *but: str) -> Files:
    """Every file of a folder with its mode and content, every link with its target.

    Args:
        folder: which.
        but: names that do not count, beside what tools make anew.
    """
    found: dict[str, tuple[int, bytes]] = {}
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        if {*REMADE, *but} & set(inner.parts) or (path.is_dir() and not path.is_symlink()):
            continue
        content = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        found[str(inner)] = (path.lstat().st_mode & 0o777, content)
    return found
