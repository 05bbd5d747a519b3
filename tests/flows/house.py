"""A real home with a real daemon, driven as a person or a program would: by the command line and over HTTP.

For flows, attacks and benches. Nothing here reaches into the product; what it knows, it reads from the door.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stead.client import Client, NoDaemon
from stead.config import Home
from stead.domain.ends import WELL
from tests import forks
from tests.forks import Fork

Json = dict[str, Any]
DEADLINE_S = 30.0


@dataclass
class LivingHome:
    """A home of its own, and the daemon that serves it.

    Args:
        root: the home's folder.
        env: what the daemon's and the command line's environment has beside the few necessary names.
        module: what is run as the daemon; a bench may bring its own.
        python: the interpreter that runs it, and the command line.
        forked: the daemon is a fork of a process that has imported the product: see ``forks.py``.
        shared: many tests work in it, so that no model of theirs is led by what those of others did.
    """

    root: Path
    env: Mapping[str, str] = field(default_factory=dict)
    module: str = "stead.serve"
    python: str = sys.executable
    forked: bool = False
    shared: bool = False
    process: subprocess.Popen[bytes] | Fork | None = None

    @property
    def home(self) -> Home:
        """Its paths."""
        return Home(self.root)

    @property
    def environment(self) -> dict[str, str]:
        """A bare environment: no keys, no model servers, no one else's home."""
        bare = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return {
            **bare,
            "HOME": str(self.root.parent),
            "STEAD_HOME": str(self.root),
            "NO_COLOR": "1",
            "PYTHONPATH": os.pathsep.join(filter(self._is_ours, sys.path)),
            **self.env,
        }

    def _is_ours(self, path: str) -> bool:
        """Whether the daemon finds modules there, too: the clone's tests, and its code where no other is installed."""
        return path in (os.getcwd(), os.path.join(os.getcwd(), "src") if self.python == sys.executable else "")

    def start(self, *arguments: str) -> float:
        """Start the daemon and wait until it answers; gives the seconds that it took."""
        began = time.monotonic()
        self.launch(*arguments)
        self.until(self.answers, "the daemon to answer", poll_s=0.005)
        return time.monotonic() - began

    def launch(self, *arguments: str) -> None:
        """Start the daemon's process, and do not wait."""
        self.home.make()
        if not self.home.settings.exists():
            self.home.settings.write_text('discover = "off"\nembedder = "off"\n', "utf-8")
        self.home.address.unlink(missing_ok=True)
        words = ["--home", str(self.root), *arguments]
        with self.home.log.open("ab") as log:
            if self.forked:
                self.process = Fork(self.module, words, self.environment, log)
                return
            self.process = subprocess.Popen(
                [self.python, "-m", self.module, *words],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def daemon_once(self, timeout_s: float = 20) -> subprocess.CompletedProcess[str]:
        """Start a daemon that is expected to refuse, and wait until it has left."""
        return subprocess.run(
            [self.python, "-m", self.module, "--home", str(self.root)],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    def answers(self) -> bool:
        """Whether the daemon answers."""
        assert self.process is not None
        if self.process.poll() is not None:
            raise AssertionError(f"the daemon left with {self.process.returncode}:\n{self.log_tail()}")
        try:
            self.client().get("/status")
        except NoDaemon:
            return False
        return True

    def client(self) -> Client:
        """The product's own client."""
        return Client(self.home)

    def kill(self) -> None:
        """The power goes out: SIGKILL, and nothing is tidied."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(10)

    def stop(self) -> None:
        """Ask the daemon to leave, and see to it that it does."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the daemon did not leave within 10 s:\n{self.log_tail()}") from None

    def cli(
        self, *arguments: str, cwd: Path | None = None, stdin: str = "", timeout_s: float = 60
    ) -> subprocess.CompletedProcess[str]:
        """Run the command line as a person would, without a terminal; of a forked daemon it is a fork, too."""
        where = cwd or self.root.parent
        if self.forked:
            return forks.run(
                *("stead", arguments, timeout_s), environment=self.environment, stdin=stdin, cwd=str(where)
            )
        return subprocess.run(
            [self.python, "-m", "stead", *arguments],
            env=self.environment,
            cwd=where,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    def post(self, path: str, body: Json | None = None) -> Json:
        """One command over HTTP."""
        answer: Json = self.client().post(path, body or {})
        return answer

    def get(self, path: str, /, **query: str | int) -> Json:
        """One read over HTTP."""
        answer: Json = self.client().get(path, **query)
        return answer

    def give(self, goal: str, directory: Path, **fields: object) -> str:
        """Create an objective, one that asks before it writes and runs unless said otherwise; gives its id."""
        body = {"goal": goal, "directory": str(directory), "profile": "ask", **fields}
        return str(self.post("/objectives", body)["session"])

    def wait(self, id: str, *statuses: str, timeout_s: float = DEADLINE_S) -> Json:
        """Wait until an objective has one of these statuses; gives its row."""
        row: Json = {}

        def reached() -> bool:
            row.update(self.get(f"/objectives/{id}"))
            return row["status"] in statuses

        self.until(reached, f"{id} to be {' or '.join(statuses)}", timeout_s=timeout_s, last=row)
        return row

    def finish(self, id: str, *, answer: str = "session", timeout_s: float = DEADLINE_S) -> Json:
        """Answer every question of an objective in the same way until it ends; gives its row.

        Where no lasting answer may be given, the answer is for that call.
        """
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            row = self.wait(id, "waiting", *WELL, "incomplete", "failed", "cancelled", "paused", timeout_s=timeout_s)
            if row["status"] != "waiting":
                return row
            for question in self.get("/approvals", session=id)["items"]:
                given = answer if question["shape"] or answer in ("once", "deny") else "once"
                self.post(
                    f"/approvals/{question['id']}/decision",
                    {"answer": given, "digest": question["digest"], "whole": True},
                )
        raise AssertionError(f"{id} did not end within {timeout_s} s")

    def events(self, id: str = "") -> list[Json]:
        """Every event, of one stream if named, as the door gives it."""
        found: list[Json] = []
        after = 0
        while True:
            query: dict[str, str | int] = {"after": after, "limit": 500} | ({"streams": id} if id else {})
            page = self.get("/events", **query)["items"]
            found += page
            if len(page) < 500:
                return found
            after = page[-1]["seq"]

    def bodies(self, id: str, kind: str) -> list[Json]:
        """The bodies of a stream's events of one type."""
        return [event["body"] for event in self.events(id) if event["body"]["type"] == kind]

    def log_tail(self) -> str:
        """The end of the daemon's log."""
        return self.home.log.read_text("utf-8", "replace")[-4000:] if self.home.log.exists() else "(no log)"

    def until(
        self,
        true: Callable[[], bool],
        what: str,
        *,
        timeout_s: float = DEADLINE_S,
        poll_s: float = 0.02,
        last: object = "",
    ) -> None:
        """Wait for something to become true."""
        deadline = time.monotonic() + timeout_s
        while not true():
            if time.monotonic() > deadline:
                seen = last() if callable(last) else last
                raise AssertionError(f"waited {timeout_s} s for {what}; last: {seen}\n{self.log_tail()}")
            time.sleep(poll_s)


def use_model(house: LivingHome, base_url: str, *, name: str = "acme", preset: str = "compatible") -> None:
    """Make a model server the home's only model."""
    house.post("/providers", {"name": name, "preset": preset, "base_url": base_url, "model": "scripted"})
    house.post("/chain", {"chain": [{"provider": name, "model": "scripted"}]})
    if house.shared:
        house.post(f"/providers/{name}/models", {"model": "scripted", "trust": "normal"})
