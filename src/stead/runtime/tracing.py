"""Spans of turns, requests to models and calls of tools, sent to a collector of OpenTelemetry traces, if one is named.

Layer: runtime. They are made from events after their commit, by the names of the GenAI semantic conventions. They carry
names, counts and times: no word of a person or a model, no argument, no result, no path. Observing cannot slow down or
fail what is observed: what the collector does not take is dropped.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from stead.domain import events as ev
from stead.domain.ids import CallKey, RequestNo, SessionId
from stead.runtime.bus import Bus

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span
    from opentelemetry.util.types import AttributeValue

log = logging.getLogger(__name__)
_NS = 1_000_000
"""Nanoseconds in a millisecond."""
_TIMEOUT_S = 5.0
"""For an answer of the collector, and for the last spans at the daemon's end."""
_OPEN_TURNS = 1000
_REPLIES = (ev.ModelReplied, ev.ModelFailed, ev.ReadingReplied, ev.ReadingFailed)
_ENDS = (ev.TurnEnded, ev.ObjectiveEnded, ev.SessionPaused, ev.SessionStopped, ev.SessionClosed, ev.SessionDeleted)


class _Turn:
    """The spans of a session that have begun."""

    def __init__(self, root: Span) -> None:
        self.root = root
        self.requests: dict[RequestNo, Span] = {}
        self.calls: dict[CallKey, Span] = {}

    def end(self, ts_ms: int) -> None:
        """End all of them."""
        for span in (*self.requests.values(), *self.calls.values(), self.root):
            span.end(ts_ms * _NS)


class Traces:
    """Sends spans to a collector by OTLP over HTTP; the caller of ``keep`` owns the work.

    Args:
        bus: tells what happens.
        endpoint: base address of the collector; ``/v1/traces`` is put after it. "" for none.
        version: of Stead.
    """

    def __init__(self, bus: Bus, endpoint: str, version: str) -> None:
        self._bus = bus
        self._endpoint = endpoint
        self._version = version
        self._turns: dict[SessionId, _Turn] = {}
        self._exporter: SpanExporter | None = None

    async def keep(self) -> None:
        """Send what happens from now on, until cancelled; return at once where no collector is named."""
        if not self._endpoint:
            return
        watching = self._bus.subscribe()
        provider: TracerProvider | None = None
        try:
            provider = await asyncio.to_thread(self._provider)
            while True:
                items = await watching.next()
                for item in items:
                    if isinstance(item, ev.Event):
                        self._take(provider, item)
                if watching.overrun:
                    watching.close()
                    watching = self._bus.subscribe()
                    self._turns.clear()
                    log.warning("traces: more happened at once than could be followed; spans of it are missing")
        except ImportError as error:
            log.error("no traces are sent: %s; install Stead with its extra 'otel', or take out otlp_endpoint", error)
        finally:
            watching.close()
            if provider is not None:
                await self._end(provider)

    async def _end(self, provider: TracerProvider) -> None:
        """Send the last spans, for as long as one answer may take; a collector that says nothing holds up no end."""
        ending = asyncio.create_task(asyncio.to_thread(provider.shutdown))
        _, late = await asyncio.wait({ending}, timeout=_TIMEOUT_S)
        if late and self._exporter is not None:
            self._exporter.shutdown()  # what is left is dropped, and no try is made again
        await ending

    def _provider(self) -> TracerProvider:
        # These take 200 ms and 20 MB, which a home without a collector has no use for.
        from opentelemetry.exporter.otlp.proto.http import Compression
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import SpanLimits, TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.sampling import ALWAYS_ON
        from requests import Session

        session = Session()
        session.trust_env = False  # no proxy, no credentials of another program
        exporter = OTLPSpanExporter(
            f"{self._endpoint.rstrip('/')}/v1/traces", timeout=_TIMEOUT_S, compression=Compression.Gzip, session=session
        )
        provider = TracerProvider(
            ALWAYS_ON,
            Resource({"service.name": "stead", "service.version": self._version}),
            shutdown_on_exit=False,
            span_limits=SpanLimits(max_span_attribute_length=200),
        )
        self._exporter = exporter
        provider.add_span_processor(BatchSpanProcessor(exporter))
        return provider

    def _take(self, provider: TracerProvider, event: ev.Event) -> None:
        body, ts_ms = event.body, event.ts_ms
        turn = self._turns.get(event.session)
        if isinstance(body, ev.ModelRequested | ev.ReadingRequested):
            turn = turn or self._begin(provider, event)
            turn.requests[body.number] = _span(provider, "chat", ts_ms, turn.root)
        elif isinstance(body, ev.ToolStarted):
            turn = turn or self._begin(provider, event)
            turn.calls[body.key] = span = _span(provider, f"execute_tool {body.tool}", ts_ms, turn.root)
            span.set_attribute("gen_ai.operation.name", "execute_tool")
            span.set_attributes({"gen_ai.tool.name": body.tool, "gen_ai.tool.call.id": body.key})
        elif turn is None:
            return
        elif isinstance(body, _REPLIES) and body.number in turn.requests:
            _end_request(turn.requests.pop(body.number), body, ts_ms)
        elif isinstance(body, ev.ToolFinished) and body.key in turn.calls:
            _end(turn.calls.pop(body.key), ts_ms, "" if body.outcome == "ok" else body.outcome)
        elif isinstance(body, _ENDS):
            del self._turns[event.session]
            turn.end(ts_ms)

    def _begin(self, provider: TracerProvider, event: ev.Event) -> _Turn:
        if len(self._turns) >= _OPEN_TURNS:  # of sessions that a crash ended, say
            del self._turns[next(iter(self._turns))]
        root = _span(provider, "invoke_agent stead", event.ts_ms, None)
        root.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "stead"})
        root.set_attribute("gen_ai.conversation.id", event.session)
        turn = self._turns[event.session] = _Turn(root)
        return turn


def _span(provider: TracerProvider, name: str, ts_ms: int, parent: Span | None) -> Span:
    from opentelemetry.context import Context
    from opentelemetry.trace import SpanKind, set_span_in_context

    context = Context() if parent is None else set_span_in_context(parent, Context())
    kind = SpanKind.CLIENT if name.startswith("chat") else SpanKind.INTERNAL
    return provider.get_tracer("stead").start_span(name, context, kind, start_time=ts_ms * _NS)


def _end_request(
    span: Span, reply: ev.ModelReplied | ev.ModelFailed | ev.ReadingReplied | ev.ReadingFailed, ts_ms: int
) -> None:
    known: dict[str, AttributeValue] = {"gen_ai.operation.name": "chat"}
    if isinstance(reply, ev.ModelFailed | ev.ReadingFailed):
        span.set_attributes(known)
        _end(span, ts_ms, reply.kind)
        return
    known |= {
        "gen_ai.provider.name": reply.model.provider,
        "gen_ai.request.model": reply.model.model,
        "gen_ai.response.finish_reasons": [reply.stop],
        "gen_ai.usage.input_tokens": reply.usage.input,
        "gen_ai.usage.cache_read.input_tokens": reply.usage.cached,
        "gen_ai.usage.output_tokens": reply.usage.output,
    }
    if isinstance(reply, ev.ModelReplied):
        known["stead.first_token_ms"] = reply.first_token_ms
    span.update_name(f"chat {reply.model.model}")
    span.set_attributes(known)
    _end(span, ts_ms, "")


def _end(span: Span, ts_ms: int, fault: str) -> None:
    from opentelemetry.trace import StatusCode

    if fault:
        span.set_attribute("error.type", fault)
        span.set_status(StatusCode.ERROR)
    span.end(ts_ms * _NS)
