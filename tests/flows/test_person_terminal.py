"""The person's terminal and files on a running daemon: over the real door, in a real machine, with the real record."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from stead.client import ApiError
from tests.fakes.models import Seen, ServedModel, Turn
from tests.flows.conftest import shared_house as house
from tests.flows.house import LivingHome, use_model
from tests.flows.served import served
from tests.machines.bench import require_sandbox

__all__ = ["house"]

DEADLINE_S = 20.0


@pytest.fixture
def model(house: LivingHome) -> Iterator[ServedModel]:
    """Says one thing, whatever it is asked."""

    def says(_seen: Seen) -> Turn:
        return Turn("Done.")

    with served(says) as server:
        use_model(house, server.openai)
        yield server


@pytest.fixture
def desk(house: LivingHome, project: Path, model: ServedModel) -> str:
    require_sandbox()
    return f"/sessions/{house.post('/sessions', {'directory': str(project)})['session']}"


def opened(house: LivingHome, desk: str) -> str:
    """The path of a fresh terminal."""
    return f"{desk}/terminals/{house.post(f'{desk}/terminals', {'rows': 24, 'columns': 80})['text']}"


@contextmanager
def watched(house: LivingHome, path: str) -> Iterator[ClientConnection]:
    address = json.loads(house.home.address.read_text("utf-8"))
    bearer = {"Authorization": f"Bearer {address['bearer']}"}
    with connect(
        f"ws://127.0.0.1:{address['port']}/api/v1{path}", additional_headers=bearer, proxy=None, close_timeout=2
    ) as socket:
        yield socket


def until(socket: ClientConnection, text: str) -> str:
    """Everything that is printed up to there."""
    seen, deadline = b"", time.monotonic() + DEADLINE_S
    while text.encode() not in seen:
        data = socket.recv(timeout=max(0.1, deadline - time.monotonic()))
        assert isinstance(data, bytes)
        seen += data
    return seen.decode("utf-8", "replace")


def end(socket: ClientConnection) -> tuple[int, str]:
    try:
        while True:
            socket.recv(timeout=DEADLINE_S)
    except ConnectionClosed as closed:
        assert closed.rcvd is not None
        return closed.rcvd.code, closed.rcvd.reason


def closings(house: LivingHome, desk: str, count: int = 1) -> list[tuple[int, str, str]]:
    """Exit code, reason and door of each terminal that ended."""
    session = desk.removeprefix("/sessions/")
    house.until(lambda: len(house.bodies(session, "terminal.closed")) >= count, "the end to be on record")
    return [(one["exit_code"], one["why"], one["door"]) for one in house.bodies(session, "terminal.closed")]


def test_what_is_done_in_it_is_the_persons_and_what_is_typed_is_not_recorded(
    house: LivingHome, desk: str, project: Path
) -> None:
    house.post(f"{desk}/messages", {"text": "begin"})
    house.wait(desk.removeprefix("/sessions/"), "idle")
    house.post(f"{desk}/checkpoints", {"note": "before"})
    path = opened(house, desk)
    with watched(house, path) as socket:
        socket.send(b"stty size; echo quill-7f3a > from-the-terminal; echo rea'dy'\n")
        assert "24 80" in until(socket, "ready\r\n")
        house.post(f"{path}/resize", {"rows": 40, "columns": 100})
        socket.send(b"stty size\n")
        until(socket, "40 100")
    with watched(house, path) as again:
        assert "from-the-terminal" in until(again, "40 100"), "a page that is loaded again has lost nothing"
        again.send(b"exit 7\n")
        assert end(again) == (1000, "exited 7")

    assert closings(house, desk) == [(7, "exited", "")]
    assert house.get(f"{desk}/terminals")["items"] == []
    (first, *_) = house.get(f"{desk}/checkpoints")["items"]
    assert [change["path"] for change in house.get(f"{desk}/diff", old=first["id"])["items"]] == ["from-the-terminal"]
    assert house.get(f"{desk}/file", path="from-the-terminal")["text"] == "quill-7f3a\n"
    record = json.dumps(house.get("/events", limit=500))
    (begun,) = house.bodies(desk.removeprefix("/sessions/"), "terminal.opened")
    assert (begun["rows"], begun["columns"], begun["door"]) == (24, 80, "cli")
    assert "terminal.opened" in record
    assert "quill-7f3a" not in record
    assert house.get(desk)["status"] == "idle", "a terminal wakes nobody"


def test_a_file_is_shown_without_the_secrets_in_it(house: LivingHome, desk: str, project: Path) -> None:
    house.post("/secrets", {"name": "ledger", "value": "plum-orchard-19-wheel"})
    (project / "settings.ini").write_text("user = ada\npassword = plum-orchard-19-wheel\n")

    shown = house.get(f"{desk}/file", path="settings.ini")

    assert shown["redacted"] is True
    assert "user = ada" in shown["text"]
    assert "plum-orchard" not in json.dumps(shown)
    assert house.get(f"{desk}/file", path="README.md")["redacted"] is False


def test_stop_ends_every_terminal_at_once_also_while_all_sessions_rest(house: LivingHome, desk: str) -> None:
    path = opened(house, desk)
    with watched(house, path) as socket:
        socket.send(b"trap '' INT TERM HUP; echo rea'dy'; while :; do :; done\n")
        until(socket, "ready\r\n")
        began = time.monotonic()
        house.post("/stop", {"why": "enough"})
        assert end(socket) == (1000, "stopped 137")
        assert time.monotonic() - began < 5  # some 20 ms on a quiet machine
    assert closings(house, desk) == [(137, "stopped", "")]
    assert house.get(desk)["status"] == "idle", "there was nothing to hold"


def test_closing_ends_it_and_a_closed_or_deleted_session_has_none(house: LivingHome, desk: str) -> None:
    first, second = opened(house, desk), opened(house, desk)
    house.post(f"{first}/close")
    assert closings(house, desk) == [(137, "closed", "cli")]
    with watched(house, second) as socket:
        until(socket, "$ ")
        house.post(f"{desk}/close")
        assert end(socket) == (1000, "stopped 137")
    assert closings(house, desk, 2)[1] == (137, "stopped", "")
    with pytest.raises(ApiError, match="closed") as refused:
        opened(house, desk)
    assert refused.value.status == 409
    house.post(f"{desk}/delete", {"now": True})
    for path in (f"{desk}/terminals", f"{desk}/files"):
        with pytest.raises(ApiError) as gone:
            house.get(path)
        assert gone.value.status == 404
    with pytest.raises(ApiError) as never:
        opened(house, desk)
    assert never.value.status == 404
    with pytest.raises(InvalidStatus), watched(house, second):
        pass


def test_what_a_terminal_of_a_session_on_trial_changes_waits_for_the_person(
    house: LivingHome, project: Path, model: ServedModel
) -> None:
    require_sandbox()
    desk = f"/sessions/{house.post('/sessions', {'directory': str(project), 'mode': 'trial'})['session']}"
    before = (project / "README.md").read_bytes()
    path = opened(house, desk)
    with watched(house, path) as socket:
        socket.send(b"echo quill > fresh.md; rm README.md; cat fresh.md; exit\n")
        assert end(socket) == (1000, "exited 0")
    assert closings(house, desk) == [(0, "exited", "")]
    waiting = house.get(desk.replace("sessions", "objectives") + "/trial")["changes"]
    assert [(one["kind"], one["path"]) for one in waiting] == [("deleted", "README.md"), ("added", "fresh.md")]
    assert (project / "README.md").read_bytes() == before and not (project / "fresh.md").exists()
    house.post(desk.replace("sessions", "objectives") + "/trial/apply", {"paths": ["fresh.md"]})
    assert (project / "fresh.md").read_text("utf-8") == "quill\n" and (project / "README.md").exists()


def test_terminals_do_not_outlive_the_daemon_and_the_record_says_so(house: LivingHome, desk: str) -> None:
    opened(house, desk)
    house.stop()
    house.start()
    assert closings(house, desk) == [(137, "stopped", "")]
    path = opened(house, desk)
    house.kill()
    house.start()
    assert house.get(f"{desk}/terminals")["items"] == []
    assert closings(house, desk, 2)[1] == (137, "lost", "")
    with pytest.raises(InvalidStatus), watched(house, path):
        pass
