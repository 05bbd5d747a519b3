"""Figures of the home for Prometheus, on a loopback port of their own, where nothing else answers.

Layer: a door. Whoever has the token reads counts, sizes and times: no content, no name of a session, folder, schedule
or person. The names of models are the only labels that anybody chooses, so they are bounded in length and number.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import resource
import secrets
from collections.abc import Iterator
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
Sample = tuple[dict[str, str], float]
Family = tuple[str, str, str, list[Sample]]
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
            f"# HELP {name} {help}\n# TYPE {name} {kind}\n" + "".join(_line(name, *sample) for sample in samples)
            for name, kind, help, samples in families
        ]
        return "".join(lines).encode()

    def _of_models(self) -> Iterator[Family]:
        rows = sorted(self._backend.views.usage(1, since="0001-01-01", per="all"), key=lambda row: -row.requests)
        named = {(row.provider, row.model) for row in rows[:MOST_MODELS]}
        counts: dict[str, dict[tuple[tuple[str, str], ...], float]] = {name: {} for name in _OF_MODELS}
        for row in rows:
            known = (row.provider, row.model) in named
            model = f"{row.provider}/{row.model}"[:_NAME_CHARS] if row.model and known else "other" if row.model else ""
            for name, label, value in (
                ("stead_model_requests_total", ("outcome", "replied"), row.requests - row.failed),
                ("stead_model_requests_total", ("outcome", "failed"), row.failed),
                ("stead_model_tokens_total", ("kind", "in"), row.tokens_in),
                ("stead_model_tokens_total", ("kind", "cached"), row.tokens_cached),
                ("stead_model_tokens_total", ("kind", "out"), row.tokens_out),
                ("stead_model_cost_usd_total", ("currency", "USD"), row.usd_micros / 1e6),
                ("stead_model_reply_seconds_total", ("of", "replies"), row.duration_ms / 1e3),
            ):
                of = (("model", model), label)
                counts[name][of] = counts[name].get(of, 0) + value
        for name, help in _OF_MODELS.items():
            yield name, "counter", help, [(dict(of), value) for of, value in counts[name].items()]

    def _of_work(self) -> Iterator[Family]:
        counts = self._backend.views.counts()
        questions = sum(count for kind, _, count in counts if kind == "approval")
        sessions = [
            ({"kind": kind, "state": state}, float(count)) for kind, state, count in counts if kind != "approval"
        ]
        known = self._backend.home().schedules.values()
        started = [run for one in known if (run := _last_started(one.runs))]
        waits = sum(not run.session for one in known for run in one.open_runs)
        lag_s = max((run.started_ms - run.due_ms for run in started), default=0) / 1e3
        size = sum(file.stat().st_size for file in self._journal.parent.glob(f"{self._journal.name}*"))
        yield "stead_sessions", "gauge", "Objectives and sessions by state.", sessions
        yield "stead_approvals_waiting", "gauge", "Questions to the person.", [({}, questions)]
        yield (
            "stead_schedules",
            "gauge",
            "Schedules.",
            [
                ({"state": "on"}, sum(one.on for one in known)),
                ({"state": "off"}, sum(not one.on for one in known)),
            ],
        )
        yield "stead_schedule_runs_waiting", "gauge", "Runs that wait for the one before.", [({}, waits)]
        yield (
            "stead_schedule_lag_seconds",
            "gauge",
            "The latest that a newest run began after it was due.",
            [({}, lag_s)],
        )
        yield "stead_journal_events_total", "counter", "Events of the journal.", [({}, self._backend.journal.head())]
        yield "stead_journal_bytes", "gauge", "Its size on the disk.", [({}, size)]

    def _of_process(self, lag_s: float) -> Iterator[Family]:
        used = resource.getrusage(resource.RUSAGE_SELF)
        yield "stead_info", "gauge", "What runs.", [({"version": self._backend.identity.build}, 1)]
        yield "stead_loop_lag_seconds", "gauge", "How late a timer of 10 ms came just now.", [({}, lag_s)]
        yield "process_cpu_seconds_total", "counter", "Of this process.", [({}, used.ru_utime + used.ru_stime)]
        yield "process_resident_memory_bytes", "gauge", "Of this process.", [({}, _resident_bytes(used.ru_maxrss))]


_OF_MODELS = {
    "stead_model_requests_total": "Requests to models by outcome; no model answered those without one.",
    "stead_model_tokens_total": "Tokens; cached ones are among those that went in.",
    "stead_model_cost_usd_total": "Their cost, as far as prices are known.",
    "stead_model_reply_seconds_total": "How long replies took together.",
}


def _last_started(runs: tuple[ScheduleRun, ...]) -> ScheduleRun | None:
    return next((run for run in reversed(runs) if run.started_ms and run.by == "clock"), None)


def _resident_bytes(peak_kib: int) -> int:
    """What is in memory now; where there is no /proc, the most that ever was."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        return peak_kib * 1024
    return pages * os.sysconf("SC_PAGE_SIZE")


_ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def _line(name: str, labels: dict[str, str], value: float) -> str:
    within = ",".join(f'{label}="{text.translate(_ESCAPED)}"' for label, text in labels.items())
    return f"{name}{{{within}}} {value!r}\n" if within else f"{name} {value!r}\n"
