"""The client against a server: what it sends, what it makes of answers, and how it survives a bad line."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.client import ApiError, Client, NoDaemon, exchange, find_address
from stead.client.api import target
from stead.config import Home
from stead.domain.events import NoticeGiven
from tests.cli.simulator import Simulator, listening


def notices(count: int) -> list[NoticeGiven]:
    return [NoticeGiven(f"note {number}", "steer") for number in range(count)]


def write_address(home: Home, port: int, **changes: Any) -> None:
    home.make()
    address = {"pid": os.getpid(), "port": port, "name": "n", "bearer": "b", "version": "0", "started_ms": 0}
    home.address.write_text(json.dumps(address | changes))


def test_without_an_address_file_no_daemon_runs_and_the_way_out_is_named(home: Home) -> None:
    with pytest.raises(NoDaemon, match=r"no daemon runs for .*; start it with: stead up"):
        find_address(home)


def test_the_address_of_a_process_that_is_gone_is_stale(home: Home) -> None:
    write_address(home, 1, pid=2**22 + 5)
    with pytest.raises(NoDaemon, match="is gone"):
        Client(home).get("/status")


@pytest.mark.parametrize("content", ["", "{", "[]", "7", '{"pid": 1}', '{"pid": "x"}'])
def test_a_damaged_address_file_is_said_to_be_damaged(home: Home, content: str) -> None:
    home.make()
    home.address.write_text(content)
    with pytest.raises(NoDaemon, match="damaged"):
        find_address(home)


def test_a_port_where_nobody_listens_is_no_daemon(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    write_address(home, port)
    with pytest.raises(NoDaemon, match="cannot be reached"):
        Client(home).get("/status")


def test_a_refusal_keeps_its_code_its_text_and_its_status(home: Home, api: Simulator) -> None:
    with pytest.raises(ApiError, match="there is no objective 's_0'") as caught:
        Client(home).get("/objectives/s_0")
    assert (caught.value.code, caught.value.status) == ("not_found", 404)


def test_a_request_that_came_too_soon_waits_and_is_sent_again(home: Home) -> None:
    times: list[float] = []

    def refuse_first(connection: socket.socket) -> None:
        connection.recv(65536)
        times.append(time.monotonic())
        if len(times) == 1:
            connection.sendall(b"HTTP/1.1 429 Slow\r\nRetry-After: 1\r\nContent-Length: 2\r\n\r\n{}")
        else:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n" + b'{"seq":  17}')

    with listening(refuse_first) as port:
        write_address(home, port)
        assert Client(home).post("/stop", {"why": ""}) == {"seq": 17}
    assert len(times) == 2
    assert times[1] - times[0] >= 1


@pytest.mark.parametrize("wait", ["", "Retry-After: 31\r\n", "Retry-After: soon\r\n"])
def test_one_that_would_wait_for_long_or_is_not_told_how_long_is_refused_at_once(home: Home, wait: str) -> None:
    said = b'{"error": {"code": "rate", "message": "too many"}}'

    def refuse(connection: socket.socket) -> None:
        connection.recv(65536)
        head = f"HTTP/1.1 429 Slow\r\n{wait}Content-Length: {len(said)}\r\n\r\n"
        connection.sendall(head.encode() + said)

    with listening(refuse) as port:
        write_address(home, port)
        with pytest.raises(ApiError, match="too many"):
            Client(home).get("/status")


def test_a_list_is_read_page_after_page(home: Home, serve: Callable[..., Simulator]) -> None:
    api = serve(lambda run: None)
    client = Client(home)
    for number in range(7):
        client.post("/objectives", {"goal": f"g{number}", "directory": "/"})
    assert [row["goal"] for row in client.items("/objectives", limit=3)] == [
        f"g{number}" for number in range(6, -1, -1)
    ]
    assert sum(path.startswith("/api/v1/objectives?") for _, path in api.requests) == 3


@pytest.mark.parametrize(
    "spoken",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
        b"HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1\r\n\r\n",
        b"\x00" * (exchange.HEAD_LIMIT_BYTES + 10),
        b"",
    ],
)
def test_whatever_else_listens_there_gives_a_clear_error(home: Home, spoken: bytes) -> None:
    def speak(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(spoken)

    with listening(speak) as port:
        write_address(home, port)
        with pytest.raises(ApiError, match=r"; see: stead (doctor|logs)$"):
            Client(home).get("/status")


def test_a_command_whose_connection_breaks_is_sent_again_under_the_same_key(home: Home) -> None:
    requests: list[bytes] = []

    def break_first(connection: socket.socket) -> None:
        requests.append(connection.recv(65536))
        if len(requests) > 1:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n" + b'{"seq":  17}')

    with listening(break_first) as port:
        write_address(home, port)
        assert Client(home).post("/stop", {"why": ""}) == {"seq": 17}
    keys = [line for request in requests for line in request.split(b"\r\n") if line.startswith(b"Idempotency-Key")]
    assert len(keys) == 2
    assert keys[0] == keys[1]


def test_a_daemon_that_never_answers_is_given_up_at_the_deadline(home: Home) -> None:
    release = threading.Event()

    def stall(connection: socket.socket) -> None:
        release.wait(10)

    with listening(stall) as port:
        write_address(home, port)
        with pytest.raises(NoDaemon, match=r"did not answer within 0\.2 s"):
            Client(home).post("/stop", timeout_s=0.2)
        release.set()


def test_a_restarted_daemon_with_another_port_and_bearer_is_found_by_itself(
    home: Home, serve: Callable[..., Simulator]
) -> None:
    first = serve()
    client = Client(home)
    client.get("/status")
    first.__exit__()
    serve()
    client.get("/status")


def test_a_bearer_that_is_out_of_date_is_read_anew(home: Home, api: Simulator) -> None:
    client = Client(home)
    client.get("/status")
    api.write_address()
    assert client.post("/stop", {"why": ""})["session"] == "home"
    assert len(api.breaches) == 1, "the first try had the old one"
    api.breaches.clear()
    address = home.address.read_text()
    home.address.write_text(address.replace(api.bearer, "wrong"))
    client.forget_address()
    with pytest.raises(ApiError, match="wrong bearer"):
        client.get("/status")
    assert len(api.breaches) == 1, "one that is wrong and stays so is tried once"
    api.breaches.clear()


def test_every_event_comes_once_and_in_order_however_often_the_line_breaks(home: Home, api: Simulator) -> None:
    stream = Client(home).stream(0)
    seen: list[int] = []
    for number in range(12):
        api.record("s_1", "stead", *notices(25))
        while len(seen) < 25 * (number + 1):
            seen += [envelope["seq"] for envelope in stream.next(10.0)]
        api.drop_streams()
    stream.close()
    assert seen == list(range(1, 301))
    assert sum(path.startswith("/api/v1/events/stream") for _, path in api.requests) >= 12


def test_a_stream_goes_on_with_the_next_daemon(home: Home, serve: Callable[..., Simulator]) -> None:
    first = serve()
    first.record("s_1", "stead", *notices(3))
    stream = Client(home).stream(0)
    assert len(stream.next(10.0)) == 3
    first.__exit__()
    home.address.unlink()
    assert stream.next(0.3) == []
    assert not stream.connected
    second = serve()
    second.events = first.events
    second.record("s_1", "stead", *notices(1))
    assert [envelope["seq"] for envelope in stream.next(10.0)] == [4]
    stream.close()


def test_another_journal_behind_the_same_address_ends_the_stream(home: Home, api: Simulator) -> None:
    api.record("s_1", "stead", *notices(1))
    stream = Client(home).stream(0)
    assert stream.next(10.0)
    api.epoch = "epoch-2"
    api.drop_streams()
    with pytest.raises(ApiError, match="the journal was replaced"):
        stream.next(10.0)
    stream.close()


def test_a_stream_goes_on_after_the_last_place_that_it_heard_of(home: Home) -> None:
    asked: list[bytes] = []
    answers = [
        b'id: 9\ndata: [{"seq": 3, "body": {"type": "x"}}, {"seq": 5, "body": {"type": "x"}}]\n\n',
        b'data: [{"seq": 10, "body": {"type": "x"}}]\r\n\r\ndata: [{"seq": 10, "body": {"type": "x"}}]\r\n\r\n',
        b'data: [{"seq": 11, "body": {"type": "x"}}]\n\n',
    ]

    def tell(connection: socket.socket) -> None:
        asked.append(next(line for line in connection.recv(65536).split(b"\r\n") if line.startswith(b"Last-Event-ID")))
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + answers[len(asked) - 1])

    with listening(tell) as port:
        write_address(home, port)
        stream = Client(home).stream(2)
        seen = [[envelope["seq"] for envelope in stream.next(10.0)] for _ in answers]
        stream.close()
    assert seen == [[3, 5], [10], [11]]
    assert asked == [b"Last-Event-ID: 2", b"Last-Event-ID: 9", b"Last-Event-ID: 10"]


def test_only_the_named_sessions_are_streamed_and_transients_pass(home: Home, api: Simulator) -> None:
    stream = Client(home).stream(0, ["s_2"])
    assert stream.next(0.2) == []
    api.record("s_1", "stead", *notices(2))
    api.record("s_2", "stead", *notices(1))
    assert [envelope["stream"] for envelope in stream.next(10.0)] == ["s_2"]
    api.publish({"v": 1, "ts": 0, "workspace": "default", "stream": "s_2", "actor": "model", "body": {"type": "x"}})
    assert [envelope["body"] for envelope in stream.next(10.0)] == [{"type": "x"}]
    stream.close()


def test_a_stream_of_nonsense_is_an_error_and_not_a_hang(home: Home) -> None:
    def babble(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 24\r\n\r\ndata: [{"body": {}}]\n\n\n\n')

    with listening(babble) as port:
        write_address(home, port)
        stream = Client(home).stream(0)
        with pytest.raises(ApiError, match="malformed"):
            stream.next(5.0)
        stream.close()


@given(st.text(max_size=30))
def test_any_text_survives_the_query(text: str) -> None:
    from urllib.parse import parse_qs, urlsplit

    encodable = text.encode("utf-8", "replace").decode()
    where = target("/search", {"q": text, "limit": 5})
    assert where.isascii()
    assert " " not in where
    assert parse_qs(urlsplit(where).query).get("q", [""]) == [encodable]
