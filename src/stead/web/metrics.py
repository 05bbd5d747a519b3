"""Figures of the home for Prometheus, on a loopback port of their own, where nothing else answers.

Layer: a door. The bearer of the token reads counts, sizes and times: no content, no name of a session, folder, schedule
or person. The names of models are the only labels that anybody chooses, so they are bounded in length and number.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import resource
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from stead.config import Home, Settings
from stead.domain.schedules import ScheduleRun
from stead.web.backend import Backend
from stead.web.door import write_private
from stead.web.server import WebServer, listen

MOST_MODELS = 50
_NAME_CHARS = 120
_PROBE_S = 0.01
Sample = tuple[str, float]
"""Its labels as they are written, and the value."""
Family = tuple[str, str, str, Sequence[Sample]]
"""Name, type, help, samples."""


async def open_metrics(backend: Backend, home: Home, settings: Settings) -> WebServer | None:
    """Serve the figures of this backend, if the settings name a port. The token is kept from start to start.

    Raises:
        Conflict: the port is in use.
    """
    if not settings.metrics_port:
        return None
    if not home.metrics_token.exists():
        write_private(home.metrics_token, secrets.token_urlsafe(32))
    token = home.metrics_token.read_text("utf-8").strip()
    server = WebServer(MetricsDoor(backend, home.journal, token), listen(settings.metrics_port))
    await server.start()
    return server


class MetricsDoor:
    """An ASGI application: ``GET /metrics`` with the bearer, and refusals.

    Args:
        backend: what is counted.
        journal: the file of the journal.
        token: the bearer.
    """

    def __init__(self, backend: Backend, journal: Path, token: str) -> None:
        self._backend = backend
        self._journal = journal
        self._bearer = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        given = [value.encode("latin-1") for value in Headers(scope=scope).getlist("authorization")]
        text, status = b"", 401
        if len(given) == 1 and hmac.compare_digest(given[0], self._bearer):
            status = 200 if scope["path"] == "/metrics" and scope["method"] == "GET" else 404
            text = await self._text() if status == 200 else b""
        headers = [(b"content-type", b"text/plain; version=0.0.4; charset=utf-8"), (b"cache-control", b"no-store")]
        headers += [(b"x-content-type-options", b"nosniff"), (b"content-length", str(len(text)).encode())]
        headers += [(b"www-authenticate", b"Bearer")] if status == 401 else []
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": text})

    async def close_streams(self) -> None:
        """See ``server.Served``; there are none."""

    async def _text(self) -> bytes:
        loop = asyncio.get_running_loop()
        began = loop.time()
        await asyncio.sleep(_PROBE_S)
        lag_s = max(0.0, loop.time() - began - _PROBE_S)
        families = [*await asyncio.to_thread(lambda: [*self._of_models(), *self._of_work()]), *self._of_process(lag_s)]
        lines = [
            f"# HELP {name} {help}\n# TYPE {name} {kind}\n"
            + "".join(f"{name}{{{labels}}} {value!r}\n" for labels, value in samples)
            for name, kind, help, samples in families
        ]
        return "".join(lines).encode()

    def _of_models(self) -> Iterator[Family]:
        rows = sorted(self._backend.views.usage(1, since="0001-01-01", per="all"), key=lambda row: -row.requests)
        counts: Counter[tuple[str, str, str]] = Counter()
        for at, row in enumerate(rows):
            model = f"{row.provider}/{row.model}"[:_NAME_CHARS] if at < MOST_MODELS else "other"
            counts["requests", "replied", model] += row.requests - row.failed
            counts["requests", "failed", model] += row.failed
            counts["tokens", "in", model] += row.tokens_in
            counts["tokens", "cached", model] += row.tokens_cached
            counts["tokens", "out", model] += row.tokens_out
            counts["cost_usd_micros", "", model] += row.usd_micros
            counts["reply_milliseconds", "", model] += row.duration_ms
        for name, (label, help) in _OF_MODELS.items():
            found = [(f'model="{_safe(model)}"', kind, n) for (of, kind, model), n in counts.items() if of == name]
            samples = [(model + (label % kind if kind else ""), n) for model, kind, n in found]
            yield f"stead_model_{name}_total", "counter", help, samples

    def _of_work(self) -> Iterator[Family]:
        counts = self._backend.figures.counts()
        sessions = [(f'kind="{kind}",state="{state}"', n) for kind, state, n in counts if kind != "approval"]
        questions = sum(n for kind, _, n in counts if kind == "approval")
        known = self._backend.home().schedules.values()
        on, waits = sum(one.on for one in known), sum(not run.session for one in known for run in one.open_runs)
        started = [run for one in known if (run := _last_started(one.runs))]
        lag_s = max((run.started_ms - run.due_ms for run in started), default=0) / 1e3
        size = sum(file.stat().st_size for file in self._journal.parent.glob(f"{self._journal.name}*"))
        yield "stead_sessions", "gauge", "Objectives and sessions by state.", sessions
        yield "stead_approvals_waiting", "gauge", "Questions to the person.", [("", questions)]
        yield "stead_schedules", "gauge", "Schedules.", [('state="on"', on), ('state="off"', len(known) - on)]
        yield "stead_schedule_runs_waiting", "gauge", "Runs that wait for the one before.", [("", waits)]
        yield "stead_schedule_lag_seconds", "gauge", "How late the latest of the newest runs began.", [("", lag_s)]
        yield "stead_journal_events_total", "counter", "Events of the journal.", [("", self._backend.journal.head())]
        yield "stead_journal_bytes", "gauge", "Its size on the disk.", [("", size)]

    def _of_process(self, lag_s: float) -> Iterator[Family]:
        used = resource.getrusage(resource.RUSAGE_SELF)
        yield "stead_info", "gauge", "What runs.", [(f'version="{_safe(self._backend.identity.build)}"', 1)]
        yield "stead_loop_lag_seconds", "gauge", "How late a timer of 10 ms came just now.", [("", lag_s)]
        yield "process_cpu_seconds_total", "counter", "Of this process.", [("", used.ru_utime + used.ru_stime)]
        yield "process_resident_memory_bytes", "gauge", "Of this process.", [("", _resident_bytes(used.ru_maxrss))]


_OF_MODELS = {
    "requests": (',outcome="%s"', "Requests to models; no model answered those of the model /."),
    "tokens": (',kind="%s"', "Tokens; cached ones are among those that went in."),
    "cost_usd_micros": ("", "Millionths of a dollar, as far as prices are known."),
    "reply_milliseconds": ("", "How long replies took together."),
}
"""What is counted of models: the label after the model's, and the help."""


def _last_started(runs: tuple[ScheduleRun, ...]) -> ScheduleRun | None:
    return next((run for run in reversed(runs) if run.started_ms and run.by == "clock"), None)


def _resident_bytes(peak_kib: int) -> int:
    """What is in memory now; where there is no /proc, the most that ever was."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        return peak_kib * 1024
    return pages * os.sysconf("SC_PAGE_SIZE")


def _safe(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
