"""The journal's events about a machine's connections, each recorded once it is over.

Layer: egress. It decides nothing: the proxy itself records which hosts a folder was connected to, before a byte comes
in.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from stead.domain import events as ev
from stead.domain.ids import CallKey
from stead.domain.policies import Reason
from stead.egress.exchange import Used
from stead.screen.redaction import Redactor

MOST_EVENTS = 200
_WINDOW_S = 60.0
_PATH_CHARS = 500


class Reports:
    """The reports of one machine. A flood is counted, and reported as one event.

    Args:
        on_use: journals them. Must not block.
        redactor: takes what is known now out of names and paths.
    """

    def __init__(self, on_use: Callable[[ev.EgressUsed], None], redactor: Callable[[], Redactor]) -> None:
        self._on_use = on_use
        self._redactor = redactor
        self._window_end_s = 0.0
        self._reported = self._unreported = 0
        self._rest = Used()

    def add(self, used: Used) -> None:
        """Report a connection that is over; one that sent nothing is left out."""
        if not used.target and not used.refusal:
            return
        if time.monotonic() >= self._window_end_s:
            self.close()
            self._window_end_s = time.monotonic() + _WINDOW_S
            self._reported = 0
        if self._reported < MOST_EVENTS:
            self._reported += 1
            self._on_use(self._event(used))
        else:
            self._unreported += 1
            self._rest.up_bytes += used.up_bytes
            self._rest.down_bytes += used.down_bytes

    def close(self) -> None:
        """Report the connections that were not reported one by one."""
        if not self._unreported:
            return
        text = f"{self._unreported} more connections within a minute; the first {MOST_EVENTS} are listed"
        self._rest.refusal = Reason("egress-flood", text)
        summary = msgspec.structs.replace(self._event(self._rest), connections=self._unreported, duration_ms=0)
        self._unreported, self._rest = 0, Used()
        self._on_use(summary)

    def _event(self, used: Used) -> ev.EgressUsed:
        reason = used.refusal or (used.admission.reason if used.admission else Reason("egress-request", "no request"))
        if used.left:
            reason = Reason(
                reason.rule,
                f"{reason.text}; not bound to this destination, so left as placeholders: {', '.join(used.left)}",
            )
        target = used.target
        clean = self._redactor().clean
        return ev.EgressUsed(
            key=used.admission.key if used.admission else CallKey(""),
            host=clean(target.host) if target else "",
            port=target.port if target else 0,
            address=used.address,
            method=used.method[:20],
            path=clean(_without_values(used.path))[:_PATH_CHARS],
            verdict="allow" if used.address and reason.rule != "egress-tls" else "deny",
            reason=reason,
            up_bytes=used.up_bytes,
            down_bytes=used.down_bytes,
            secrets=tuple(used.filled) if used.address else (),  # without a connection none of them left
            duration_ms=int((time.monotonic() - used.started_s) * 1000),
            query_bytes=len(used.path.partition("?")[2]),
            body_bytes=used.body_bytes,
        )


def _without_values(path: str) -> str:
    """A path with the names in its query; what has no name may be a value, and is left out."""
    plain, mark, query = path.partition("?")
    names = [name + "=" if equals else "…" for name, equals, _ in (part.partition("=") for part in query.split("&"))]
    return plain + mark + "&".join(names) if mark else plain
