"""Folders, files and terminals at the door: what it passes on, and whom it lets watch and type."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidStatus

from stead.domain.ids import SessionId
from stead.domain.terminals import Ended
from stead.web.backend import Pace
from stead.web.live import BAD_MESSAGE, GOING_AWAY, SIGNED_OUT, TOO_SLOW
from stead.web.server import MESSAGE_LIMIT_BYTES
from tests.web.door import DEADLINE_S, Door, Json, open_door
from tests.web.places import EchoTerminal
from tests.web.simulator import Home

NOBODY = "s_00000000000000aa"


async def desk(door: Door, directory: Path) -> SessionId:
    async with door.cli() as cli:
        answer = await door.post(cli, "/sessions", {"directory": str(directory)})
    assert answer.status_code == 201, answer.text
    return SessionId(answer.json()["session"])


async def terminal(door: Door, session: SessionId) -> EchoTerminal:
    async with door.cli() as cli:
        answer = await door.post(cli, f"/sessions/{session}/terminals", {"rows": 24, "columns": 80})
        assert answer.status_code == 201, answer.text
    (row,) = await door.home.terminals.rows(session)
    return door.home.terminals.open[row.id]


def at(open_one: EchoTerminal) -> str:
    return f"/sessions/{open_one.row.session}/terminals/{open_one.row.id}"


async def received(socket: ClientConnection) -> bytes:
    data = await asyncio.wait_for(socket.recv(), DEADLINE_S)
    assert isinstance(data, bytes)
    return data


async def ended(socket: ClientConnection) -> tuple[int, str]:
    """Code and reason of the end."""
    async with asyncio.timeout(DEADLINE_S):
        try:
            while True:
                await socket.recv()
        except ConnectionClosed as closed:
            assert closed.rcvd is not None
            return closed.rcvd.code, closed.rcvd.reason


async def read(door: Door, route: str, **query: str) -> Json:
    async with door.cli() as cli:
        answer = await cli.get(f"/api/v1{route}", params=query)
    return {"status": answer.status_code, **answer.json()}


# -- folders and files ----------------------------------------------------------------------------------------------


async def test_folders_and_files_are_shown(door: Door, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "notes.md").write_text("Ink.")
    session = await desk(door, tmp_path)

    folders = await read(door, "/folders", path=str(tmp_path))
    assert [(row["name"], row["allowed"]) for row in folders["folders"]] == [("src", True)]
    assert (await read(door, "/folders"))["status"] == 200
    files = await read(door, f"/sessions/{session}/files")
    assert [(row["path"], row["kind"]) for row in files["files"]] == [("src", "folder"), ("notes.md", "file")]
    assert (await read(door, f"/sessions/{session}/files", path="src"))["files"] == []
    assert (await read(door, f"/sessions/{session}/file", path="notes.md"))["text"] == "Ink."


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/folders", {"path": "relative"}, 400),
        ("/folders", {"path": "/" + "x" * 5000}, 400),
        ("/folders", {"path": "/nowhere/at/all"}, 404),
        ("/folders", {"path": "/etc"}, 400),
        (f"/sessions/{NOBODY}/files", {}, 404),
        (f"/sessions/{NOBODY}/file", {"path": "a"}, 404),
        (f"/sessions/{NOBODY}/terminals", {}, 404),
        ("/sessions/{session}/file", {}, 400),
        ("/sessions/{session}/file", {"path": ""}, 400),
        ("/sessions/{session}/file", {"path": "../../etc/passwd"}, 404),
        ("/sessions/{session}/file", {"path": "\0"}, 404),
        ("/sessions/{session}/file", {"path": "gone"}, 404),
        ("/sessions/{session}/files", {"path": "/etc"}, 404),
        ("/sessions/{session}/files", {"path": "gone"}, 404),
    ],
)
async def test_what_cannot_be_shown_says_why(
    door: Door, tmp_path: Path, path: str, query: dict[str, str], status: int
) -> None:
    session = await desk(door, tmp_path)
    answer = await read(door, path.format(session=session), **query)
    assert answer["status"] == status, answer
    assert answer["error"]["message"]


# -- terminals ------------------------------------------------------------------------------------------------------


async def test_a_terminal_is_opened_listed_resized_and_closed(door: Door, tmp_path: Path) -> None:
    session = await desk(door, tmp_path)
    one = await terminal(door, session)

    async with door.cli() as cli:
        sized = await door.post(cli, f"{at(one)}/resize", {"rows": 50, "columns": 132})
        assert (sized.json()["rows"], sized.json()["columns"]) == (50, 132)
        (row,) = (await read(door, f"/sessions/{session}/terminals"))["items"]
        assert row == sized.json()
        assert (await door.post(cli, f"{at(one)}/close")).status_code == 200
        assert (await door.post(cli, f"{at(one)}/close")).status_code == 404
        assert (await door.post(cli, f"{at(one)}/resize", {"rows": 5, "columns": 5})).status_code == 404
    assert (await read(door, f"/sessions/{session}/terminals"))["items"] == []


@pytest.mark.parametrize(
    "size",
    [
        *({"rows": rows, "columns": columns} for rows in (0, -1, 501, 2**70, 1.5, "24", None) for columns in (80,)),
        {"rows": 24},
        {"rows": 24, "columns": 1001},
        {"rows": 24, "columns": 80, "command": "sh"},
        [],
    ],
)
async def test_a_size_is_two_numbers_within_bounds(door: Door, tmp_path: Path, size: object) -> None:
    session = await desk(door, tmp_path)
    one = await terminal(door, session)
    async with door.cli() as cli:
        for path in (f"{at(one)}/resize", f"/sessions/{session}/terminals"):
            sent = {"Idempotency-Key": door.key(), "Content-Type": "application/json"}
            answer = await cli.post(f"/api/v1{path}", content=json.dumps(size), headers=sent)
            assert answer.status_code == 400, answer.text
    assert (one.row.rows, one.row.columns) == (24, 80)
    assert len(door.home.terminals.open) == 1


async def test_bytes_go_both_ways_as_they_are_to_everybody_who_watches(door: Door, tmp_path: Path) -> None:
    one = await terminal(door, await desk(door, tmp_path))
    odd = bytes(range(256)) + b"\x1b]52;c;ZXZpbA==\x07"
    cookie = await door.sign_in()
    async with door.socket(path=at(one)) as first, door.socket(path=at(one), cookie=cookie) as second:
        await first.send(odd)
        assert await received(first) == odd
        assert await received(second) == odd
        await second.send(b"")
        await second.send(b"more")
        assert await received(first) == b"more"
        assert one.row.watchers == 2
    async with door.socket(path=at(one)) as later:
        assert await received(later) == odd + b"more", "a page that is loaded again has lost nothing"
    assert one.typed == odd + b"more"


async def test_the_end_of_a_terminal_is_told_after_its_last_words(door: Door, tmp_path: Path) -> None:
    one = await terminal(door, await desk(door, tmp_path))
    async with door.socket(path=at(one)) as socket:
        await socket.send(b"exit")
        assert await received(socket) == b"exit"
        one.scrollback.add(b"bye")
        one.end(Ended(3, "exited"))
        assert await received(socket) == b"bye"
        assert await ended(socket) == (1000, "exited 3")


async def test_a_frame_that_is_no_bytes_ends_the_watching_and_types_nothing(door: Door, tmp_path: Path) -> None:
    one = await terminal(door, await desk(door, tmp_path))
    async with door.socket(path=at(one)) as socket:
        await socket.send('{"type":"resize"}')
        assert (await ended(socket))[0] == BAD_MESSAGE
    async with door.socket(path=at(one)) as socket:
        await socket.send(b"x" * (MESSAGE_LIMIT_BYTES + 1))
        assert (await ended(socket))[0] == 1009
    assert one.typed == b""
    async with asyncio.timeout(DEADLINE_S):
        while one.row.watchers:
            await asyncio.sleep(0)


async def test_who_signs_out_neither_sees_nor_types_any_more(door: Door, tmp_path: Path) -> None:
    one = await terminal(door, await desk(door, tmp_path))
    cookie = await door.sign_in()
    async with door.socket(path=at(one), cookie=cookie) as idle, door.socket(path=at(one), cookie=cookie) as typing:
        await typing.send(b"before")
        assert await received(typing) == b"before"
        async with door.browser(cookie) as browser:
            assert (await door.post(browser, "/sign-out")).status_code == 200
        await typing.send(b"after")
        assert (await ended(typing))[0] == SIGNED_OUT
        assert (await ended(idle))[0] == SIGNED_OUT, "within a second or so, though nothing happens"
    assert one.typed == b"before"


@pytest.mark.parametrize("origin", ["http://evil.example.com", "null", "http://127.0.0.1:1", ""])
async def test_a_page_of_another_origin_gets_no_terminal(door: Door, tmp_path: Path, origin: str) -> None:
    one = await terminal(door, await desk(door, tmp_path))
    cookie = await door.sign_in()
    with pytest.raises(InvalidStatus) as refused:
        async with door.socket(path=at(one), cookie=cookie, origin=origin):
            pass
    assert refused.value.response.status_code == 403
    with pytest.raises(InvalidStatus) as stranger:
        async with door.socket(path=at(one), cookie="nobody"):
            pass
    assert stranger.value.response.status_code == 401


async def test_a_terminal_is_found_only_in_its_own_session(door: Door, tmp_path: Path) -> None:
    one, other = await terminal(door, await desk(door, tmp_path)), await desk(door, tmp_path)
    for path in (
        f"/sessions/{other}/terminals/{one.row.id}",
        f"/sessions/{NOBODY}/terminals/{one.row.id}",
        f"/sessions/{one.row.session}/terminals/t_{'0' * 16}",
        f"/sessions/home/terminals/{one.row.id}",
        f"/sessions/{one.row.session}/terminals/..%2f{one.row.id}",
    ):
        with pytest.raises(InvalidStatus) as refused:
            async with door.socket(path=path):
                pass
        assert refused.value.response.status_code == 404, path
    assert one.row.watchers == 0


async def test_a_watcher_that_takes_nothing_is_told_to_come_back(home: Home, tmp_path: Path) -> None:
    async with open_door(home, Pace(stall_s=0.3)) as door:
        one = await terminal(door, await desk(door, tmp_path))
        async with door.socket(path=at(one)) as socket:
            socket.transport.pause_reading()
            async with asyncio.timeout(DEADLINE_S):
                while one.row.watchers:
                    one.scrollback.add(b"x" * 60_000)
                    await asyncio.sleep(0)
                socket.transport.resume_reading()
            assert (await ended(socket))[0] == TOO_SLOW


async def test_a_daemon_that_leaves_says_so(door: Door, tmp_path: Path) -> None:
    one = await terminal(door, await desk(door, tmp_path))
    async with door.socket(path=at(one)) as socket:
        leaving = asyncio.create_task(door.server.stop())
        assert (await ended(socket))[0] == GOING_AWAY
        await leaving
