"""An editor, by the SDK of the Agent Client Protocol, that runs ``stead acp`` and does what a test tells it.

It keeps everything that the agent sent, and holds each line against the schema that the SDK ships.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs

from tests.fakes.aimock import FOLDER, WITH_NODE

Json = dict[str, Any]
DEADLINE_S = 30.0
SCHEMA = FOLDER / "node_modules/@agentclientprotocol/sdk/schema/v1/schema.unstable.json"


class RefusedError(AssertionError):
    """The agent answered with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class Editor:
    """A running editor; what it got is in ``seen``, in order, each with the time it came (``at_s``)."""

    def __init__(self, command: list[str], environment: Mapping[str, str], cwd: Path) -> None:
        self._process = subprocess.Popen(
            [WITH_NODE, "node", str(FOLDER / "editor.mjs"), *command],
            env={**os.environ, **environment},
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.seen: list[Json] = []
        self._news = threading.Condition()
        self._tags = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._news:
                self.seen.append({**json.loads(line), "at_s": time.monotonic()})
                self._news.notify_all()

    def _do(self, **what: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()

    def until(self, found: Callable[[Json], bool], what: str, *, since: int = 0, timeout_s: float = DEADLINE_S) -> Json:
        """Wait for something that it gets; gives it."""
        deadline = time.monotonic() + timeout_s
        with self._news:
            at = since
            while True:
                while at < len(self.seen):
                    if found(self.seen[at]):
                        return self.seen[at]
                    at += 1
                left = deadline - time.monotonic()
                if left <= 0 or not self._news.wait(left):
                    tail = "\n".join(str(one)[:300] for one in self.seen[-12:])
                    raise AssertionError(f"waited {timeout_s} s for {what}; last:\n{tail}")

    def begin(self, method: str, params: object) -> int:
        """Send a request; gives its tag."""
        self._tags += 1
        self._do(do="request", tag=self._tags, method=method, params=params)
        return self._tags

    def result(self, tag: int, *, timeout_s: float = DEADLINE_S) -> Json:
        """The result of a request that was sent.

        Raises:
            RefusedError: it was answered with an error.
        """
        got = self.until(
            lambda one: one.get("tag") == tag and ("result" in one or "error" in one), f"{tag}", timeout_s=timeout_s
        )
        if "error" in got:
            raise RefusedError(got["error"]["code"], got["error"]["message"])
        return dict(got["result"] or {})

    def request(self, method: str, params: object) -> Json:
        """Send a request and wait for its result."""
        return self.result(self.begin(method, params))

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        self._do(do="notify", method=method, params=params)

    def permission(self, since: int = 0) -> Json:
        """The next question from there on."""
        return self.until(lambda one: "permission" in one, "a question", since=since)

    def permit(self, question: Json, option: str) -> None:
        """Answer a question with one of its options; "" for none."""
        chosen = {"outcome": "selected", "optionId": option} if option else {"outcome": "cancelled"}
        self._do(do="permit", tag=question["tag"], outcome=chosen)

    def updates(self, kind: str = "", since: int = 0) -> list[Json]:
        """What it was told, of one kind."""
        told = [one["update"]["update"] for one in self.seen[since:] if "update" in one]
        return [update for update in told if not kind or update["sessionUpdate"] == kind]

    def text(self, since: int = 0) -> str:
        """What the agent said."""
        return "".join(one["content"]["text"] for one in self.updates("agent_message_chunk", since))

    @property
    def pid(self) -> int:
        """Of the agent."""
        return int(self.until(lambda one: "pid" in one, "its process")["pid"])

    def kill(self) -> None:
        """The editor crashes, and takes the agent with it."""
        for pid in (self.pid, self._process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait(10)
        self._reader.join(10)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def leave(self) -> int:
        """Close the pipes; gives the agent's exit code."""
        if self._process.poll() is None:
            self._do(do="leave")
        return int(self.until(lambda one: "exit" in one, "the agent to leave")["exit"] or 0)

    def check_wire(self) -> None:
        """Hold every line that the agent sent against the schema.

        Raises:
            AssertionError: one is not what the schema says.
        """
        asked = dict[Any, str]()
        for message in [json.loads(one["sent"]) for one in self.seen if "sent" in one]:
            if "id" in message and "method" in message:
                asked[message["id"]] = message["method"]
        for line in [one["wire"] for one in self.seen if "wire" in one]:
            message = json.loads(line)
            assert message["jsonrpc"] == "2.0"
            if "method" in message:
                flaws = _flaws(message["method"], "request" if "id" in message else "notification", message["params"])
            elif "error" in message:
                flaws = _flaws("", "error", message["error"])
            else:
                flaws = _flaws(asked[message["id"]], "response", message["result"])
            assert not flaws, f"{line[:600]}\n{flaws[:3]}"


@functools.cache
def _validator(method: str, kind: str) -> jsonschema_rs.Validator:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    ending = kind.capitalize()
    name = next(
        (name for name, found in schema["$defs"].items() if found.get("x-method") == method and name.endswith(ending)),
        "Error",
    )
    assert (name == "Error") == (kind == "error"), f"the schema has no {kind} of {method}"
    return jsonschema_rs.validator_for({"$defs": schema["$defs"], "$ref": f"#/$defs/{name}"})


def _flaws(method: str, kind: str, value: object) -> list[str]:
    return [error.message for error in _validator(method, kind).iter_errors(value)]


@contextlib.contextmanager
def editor(command: list[str], environment: Mapping[str, str], cwd: Path) -> Iterator[Editor]:
    """An editor that runs a command as its agent; whatever was said over the wire is checked at the end."""
    running = Editor(command, environment, cwd)
    try:
        yield running
        running.check_wire()
    finally:
        running.kill()
