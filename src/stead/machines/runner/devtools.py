"""A pipe to a browser: questions with deadlines, and the events that come meanwhile.

Layer: machines, runner. Standard library only. Knows the protocol's form and none of its methods. The pipe is two
descriptors that only the browser and this process have, so nothing else in the machine can speak to the browser. What
comes through it was shaped by pages: sizes are bounded here, and nothing is believed but its form.

Source: Chrome DevTools Protocol 1.3, the remote debugging pipe (JSON messages, each ended by a zero byte).
"""

from __future__ import annotations

import json
import os
import select
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # a type checker takes it for true; see ``jobs``
    from collections.abc import Callable
    from typing import Any

_LARGEST = 24 << 20
_CHUNK = 1 << 18
_TICK_S = 0.2


class Gone(Exception):
    """The browser or its page is lost, with everything in it; the text says why."""


class Stopped(Exception):
    """The caller no longer waits for the answer."""


class Refused(Exception):
    """The browser would not do what it was asked to; the text is its own."""


class Pipe:
    """Both ends of it.

    Args:
        into: what the browser reads.
        out: what it writes.
        on_event: takes each event: its method, its parameters and the session that it is about.
        watch: called every tick while something is waited for; raises to end the wait.
    """

    def __init__(
        self, into: int, out: int, on_event: Callable[[str, dict[str, Any], str], None], watch: Callable[[], None]
    ) -> None:
        self._into = into
        self._out = out
        self._on_event = on_event
        self._watch = watch
        self._number = 0
        self._inbox = bytearray()
        self._answers: dict[int, dict[str, Any]] = {}
        self._awaited = 0
        self._poll = select.poll()
        self._poll.register(out, select.POLLIN)
        self._poll.register(0, select.POLLIN)

    def tell(self, method: str, session: str = "", **parameters: object) -> int:
        """Send a request; gives the number of its answer, which need not be waited for."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = memoryview(json.dumps(message).encode() + b"\0")
        try:
            while data:
                data = data[os.write(self._into, data) :]
        except OSError as error:
            raise Gone("the browser ended") from error
        return self._number

    def answer(self, number: int, deadline: float) -> dict[str, Any] | None:
        """What was answered to the question that ``tell`` has just asked; nothing when no answer comes in time.

        Raises:
            Gone: the browser ended.
            Refused: the browser's own word why not.
            Stopped: see ``watch``.
        """
        self._answers.clear()
        self._awaited = number
        if not self.wait(lambda: number in self._answers, deadline):
            return None
        answer = self._answers.pop(number)
        if "error" in answer:
            raise Refused(str(answer["error"].get("message", ""))[:300])
        result: dict[str, Any] = answer.get("result", {})
        return result

    def ask(self, method: str, session: str, deadline: float, **parameters: object) -> dict[str, Any]:
        """Ask for something and wait; as ``answer``, but who does not answer in time is lost.

        Raises:
            Gone: there is no answer by the deadline, or the browser ended.
        """
        found = self.answer(self.tell(method, session, **parameters), deadline)
        if found is None:
            raise Gone(f"the page kept the browser busy: no answer to {method} in time")
        return found

    def wait(self, over: Callable[[], bool], deadline: float) -> bool:
        """Take what comes until something holds; false when it does not by the deadline (``time.monotonic``).

        Raises:
            Gone, Stopped: as ``ask``.
        """
        while not over():
            patience = deadline - time.monotonic()
            if patience <= 0:
                return False
            self._watch()
            if any(fd == self._out for fd, _ in self._poll.poll(1000 * min(_TICK_S, patience))):
                self._take()
        return True

    def _take(self) -> None:
        data = os.read(self._out, _CHUNK)
        if not data:
            raise Gone("the browser ended")
        self._inbox += data
        if len(self._inbox) > _LARGEST and b"\0" not in self._inbox:
            raise Gone("the page made the browser say too much at once")
        *whole, rest = bytes(self._inbox).split(b"\0")
        self._inbox = bytearray(rest)
        for message in whole:
            self._dispatch(json.loads(message))

    def _dispatch(self, message: dict[str, Any]) -> None:
        if "method" in message:
            self._on_event(message["method"], message.get("params", {}), message.get("sessionId", ""))
        elif message.get("id") == self._awaited:
            self._answers[self._awaited] = message
