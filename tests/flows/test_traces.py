"""Traces for a collector of OpenTelemetry: which spans it gets, what is in none of them, what a bad one harms."""

from __future__ import annotations

import gzip
import http.server
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.fakes.models import Call, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import served
from tests.promises import promise

SILENT = 0
CANARY = "quicksilver-canary"
"""In a goal, a reply, an argument and a result."""


class Collector:
    """Takes OTLP over HTTP in protobuf, strictly, and keeps the spans.

    Args:
        status: what it answers; ``SILENT`` for nothing.
    """

    def __init__(self, status: int = 200) -> None:
        self.spans: list[Span] = []
        self.raw = b""
        self.asked = 0
        self.gone = threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                assert self.path == "/v1/traces" and self.headers["Content-Type"] == "application/x-protobuf"
                body = self.rfile.read(int(self.headers["Content-Length"]))
                body = gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body
                request = ExportTraceServiceRequest.FromString(body)
                outer.asked += 1
                if status == SILENT:
                    outer.gone.wait(60)
                outer.raw += body
                found = [span for of in request.resource_spans for scope in of.scope_spans for span in scope.spans]
                outer.spans += found if status == 200 else []
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Not into the tests' output."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"


@contextmanager
def collecting(status: int = 200) -> Iterator[Collector]:
    collector = Collector(status)
    thread = threading.Thread(target=collector.server.serve_forever)
    thread.start()
    yield collector
    collector.gone.set()
    collector.server.shutdown()
    thread.join()
    collector.server.server_close()


@contextmanager
def home_with(root: Path, endpoint: str) -> Iterator[LivingHome]:
    house = LivingHome(root / "home", env={"OTEL_BSP_SCHEDULE_DELAY": "200"}, forked=True)
    house.home.make()
    house.home.settings.write_text(f'discover = "off"\nembedder = "off"\notlp_endpoint = "{endpoint}"\n', "utf-8")
    house.start()
    yield house
    house.stop()


def has_turn(collector: Collector) -> bool:
    """Whether a whole turn has come; its own span is the last."""
    return any(span.name == "invoke_agent stead" for span in collector.spans)


def facts(span: Span) -> dict[str, Any]:
    return {one.key: _plain(one.value) for one in span.attributes}


def _plain(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    return [_plain(one) for one in value.array_value.values] if kind == "array_value" else getattr(value, str(kind))


@promise("OPS-2.traces")
def test_a_collector_is_sent_turns_requests_and_calls_with_their_times_and_no_word_of_them(
    tmp_path: Path, project: Path
) -> None:
    read = {"path": "README.md"}
    turns = iter([Turn(calls=(Call("read", read),)), Turn(f"Done, {CANARY}.", usage=(900, 100, 0, 0))])
    (project / "README.md").write_text(f"# {CANARY}\n")
    with collecting() as collector:
        with home_with(tmp_path, collector.address) as house, served(lambda _: next(turns)) as model:
            use_model(house, model.openai)
            id = house.give(f"Please read it, {CANARY}", project, title=CANARY)
            house.finish(id)
            house.until(lambda: has_turn(collector), "the turn's span")
        spans = {span.name.partition(" ")[0]: span for span in collector.spans}
    [root] = [span for span in collector.spans if span.name == "invoke_agent stead"]
    assert facts(root)["gen_ai.conversation.id"] == id and not root.parent_span_id
    requests = [span for span in collector.spans if span.name.startswith("chat ")]
    assert len(requests) == 2 and all(span.kind == Span.SPAN_KIND_CLIENT for span in requests)
    last = facts(max(requests, key=lambda span: span.start_time_unix_nano))
    assert (last["gen_ai.operation.name"], last["gen_ai.usage.output_tokens"]) == ("chat", 100)
    assert last["gen_ai.usage.input_tokens"] >= 900 and last["gen_ai.response.finish_reasons"] == ["stop"]
    assert last["gen_ai.provider.name"] and last["gen_ai.request.model"]
    call = spans["execute_tool"]
    assert call.name == "execute_tool read" and facts(call)["gen_ai.tool.name"] == "read"
    for span in (*requests, call):
        assert (span.parent_span_id, span.trace_id) == (root.span_id, root.trace_id)
        assert root.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano
        assert span.end_time_unix_nano <= root.end_time_unix_nano
    assert CANARY.encode() not in collector.raw and str(project).encode() not in collector.raw


@promise("OPS-2.traces")
@pytest.mark.parametrize(
    "fault",
    [pytest.param("refuses", marks=pytest.mark.long), "is away", pytest.param("says nothing", marks=pytest.mark.long)],
)
def test_work_goes_on_and_the_daemon_ends_in_time_where_the_collector(
    tmp_path: Path, project: Path, fault: str
) -> None:
    with collecting(SILENT if fault == "says nothing" else 503) as collector, served(lambda _: Turn("Done.")) as model:
        if fault == "is away":
            collector.server.server_close()
        with home_with(tmp_path, collector.address) as house:
            use_model(house, model.openai)
            house.finish(house.give("Please do it", project))
            house.until(lambda: collector.asked > 0 or fault == "is away", "the collector to be asked")
            began = time.monotonic()
            house.stop()
            assert time.monotonic() - began < 25, "one try, and what the daemon takes to end"
        assert "Traceback" not in house.log_tail()


@pytest.mark.long
@promise("OPS-2.traces")
def test_a_model_that_fails_and_a_call_that_fails_are_spans_with_the_kind_of_fault(
    tmp_path: Path, project: Path
) -> None:
    turns = iter([Turn(calls=(Call("read", {"path": "nothing-here.md"}),)), Turn("It is not there.")])
    with collecting() as collector:
        with home_with(tmp_path, collector.address) as house, served(lambda _: next(turns)) as model:
            use_model(house, model.openai)
            house.finish(house.give("Please read it", project))
            house.until(lambda: has_turn(collector), "the turn's span")
        [call] = [span for span in collector.spans if span.name == "execute_tool read"]
    assert facts(call)["error.type"] == "error" and call.status.code == 2
