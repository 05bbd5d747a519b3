"""Services of a session on a running daemon: started by a model, found in the next turn, looked at by the person."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.sync.client import connect

from stead.client import ApiError
from tests.fakes.models import Call, Seen, ServedModel, Turn
from tests.flows.conftest import shared_house as house
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import served
from tests.flows.sitting import Sitting, sit_down
from tests.machines.bench import fresh_nap, napping, require_sandbox
from tests.promises import promise

__all__ = ["house"]  # one daemon for all: each test looks at sessions of its own

SITE = "python3 -u -m http.server 8123 --bind 127.0.0.1"
ECHO = """
import base64, hashlib, socket
listener = socket.create_server(("127.0.0.1", 8200))
while True:
    one, _ = listener.accept()
    head = one.recv(65536).decode()
    key = next(line.split(": ")[1] for line in head.split("\\r\\n") if line.lower().startswith("sec-websocket-key"))
    proof = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
    one.sendall(f"HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n"
                f"Sec-WebSocket-Accept: {proof}\\r\\n\\r\\n".encode())
    frame = one.recv(65536)  # masked, shorter than 126 bytes
    size, mask = frame[1] & 127, frame[2:6]
    said = bytes(byte ^ mask[at % 4] for at, byte in enumerate(frame[6 : 6 + size]))
    one.sendall(bytes([0x81, size]) + said)
"""


@pytest.fixture
def model(house: LivingHome) -> Iterator[ServedModel]:
    """Runs the shell with the arguments that the person's message spells out, and ends its turn with what came back."""

    def says(seen: Seen) -> Turn:
        last = seen.body["messages"][-1]
        if last["role"] == "tool":
            return Turn(str(last["content"]))
        said = last["content"] if isinstance(last["content"], str) else last["content"][-1]["text"]
        return Turn("", (Call("shell", json.loads(said[said.index("{") :])),))

    with served(says) as server:
        use_model(house, server.openai)
        yield server


@pytest.fixture
def desk(house: LivingHome, project: Path, model: ServedModel) -> Sitting:
    require_sandbox()
    return sit_down(house, project, profile="work")


def ran(desk: Sitting, **arguments: object) -> str:
    """What the model gets from a call of the shell, in a turn of its own."""
    desk.turn(json.dumps(arguments))
    return str(desk.bodies("tool.finished")[-1]["text"])


def rows(desk: Sitting) -> list[Json]:
    return desk.items("services")


def preview(desk: Sitting, name: str, port: int = 0) -> str:
    return str(desk.house.post(f"{desk.path}/services/{name}/preview", {"port": port})["url"])


def fetched(url: str, path: str = "", **headers: str) -> httpx.Response:
    """What a browser gets, which finds such names on loopback by itself."""
    parts = urlsplit(url)
    return httpx.get(
        f"http://127.0.0.1:{parts.port}/{path}", headers={"Host": parts.netloc, **headers}, trust_env=False
    )


@promise("WS-2.services")
def test_a_service_is_started_in_one_turn_and_found_in_the_next(desk: Sitting, project: Path) -> None:
    (project / "index.html").write_text("<h1>Quay</h1>")

    result = ran(desk, command=SITE, service="web")
    assert "[service web runs on and listens at port 8123;" in result
    assert "<h1>Quay</h1>" in ran(desk, command="curl -sS http://127.0.0.1:8123/"), "the next turn finds it"

    (row,) = rows(desk)
    assert (row["name"], row["status"], row["ports"], row["command"]) == ("web", "running", [8123], SITE)
    assert '"GET / HTTP/1.1" 200' in ran(desk, command="", service="web"), "its log is shown to the model"
    assert '"GET / HTTP/1.1" 200' in desk.house.get(f"{desk.path}/services/web")["text"], "and to the person"
    assert "is running; stop it first" in ran(desk, command=SITE, service="web")
    assert "[service web ended (stopped), exit code 137]" in ran(desk, command="", service="web", stop=True)
    assert rows(desk) == [], "with nothing left to run, the machine rests"


def test_one_that_ends_at_once_is_an_error_with_what_it_printed(desk: Sitting) -> None:
    result = ran(desk, command="echo no such module >&2; exit 3", service="web")
    assert "no such module\n[service web ended (exit), exit code 3]" in result
    assert desk.bodies("tool.finished")[-1]["outcome"] == "error"


def test_a_preview_shows_what_a_service_serves_and_its_edits(desk: Sitting, project: Path) -> None:
    (project / "index.html").write_text("<h1>Quay</h1>")
    ran(desk, command=SITE, service="web")

    url = preview(desk, "web")

    assert fetched(url).text == "<h1>Quay</h1>"
    desk.turn(json.dumps({"command": "echo '<h1>Pier</h1>' > index.html"}))
    assert fetched(url).text == "<h1>Pier</h1>\n"
    assert preview(desk, "web", 8123) == url, "asked for again it is the same"
    with pytest.raises(ApiError, match="listens at 8123"):
        preview(desk, "web", 22)


def test_a_websocket_goes_through_a_preview(desk: Sitting, project: Path) -> None:
    (project / "echo.py").write_text(ECHO)
    ran(desk, command="python3 echo.py", service="echo")
    parts = urlsplit(preview(desk, "echo"))
    with (
        socket.create_connection(("127.0.0.1", parts.port or 0)) as line,
        connect(f"ws://{parts.netloc}/", sock=line, proxy=None, open_timeout=10, close_timeout=1) as there,
    ):
        there.send("tide")
        assert there.recv(timeout=10) == "tide"


def test_stop_kills_services_also_of_a_session_that_rests_and_their_previews_are_gone(desk: Sitting) -> None:
    nap = fresh_nap()
    ran(desk, command=f"sleep {nap} & {SITE}", service="web")
    url = preview(desk, "web")
    assert napping(nap)

    desk.house.post("/stop", {"why": "enough"})

    assert not napping(nap)
    assert rows(desk) == []
    with pytest.raises((httpx.ConnectError, httpx.RemoteProtocolError)):
        fetched(url)
    assert "there is no service 'web' in this session" in ran(desk, command="", service="web")


def test_a_daemon_that_starts_again_has_none_and_says_so(desk: Sitting) -> None:
    ran(desk, command=SITE, service="web")
    desk.house.stop()
    desk.house.start()
    assert rows(desk) == []
    with pytest.raises(ApiError, match="services end when the session is stopped") as gone:
        preview(desk, "web")
    assert gone.value.status == 404


def test_the_command_line_lists_reads_opens_and_stops_them(desk: Sitting, project: Path) -> None:
    (project / "index.html").write_text("<h1>Quay</h1>")
    ran(desk, command=SITE, service="web")
    cli = desk.house.cli

    assert "web   running  8123" in cli("service", "list", desk.id).stdout
    opened = json.loads(cli("service", "open", desk.id, "web", "--json").stdout)
    assert fetched(opened["url"]).text == "<h1>Quay</h1>"
    assert "GET / HTTP/1.1" in cli("service", "logs", desk.id, "web").stdout
    assert cli("service", "stop", desk.id, "web").stdout == "The service web ended (stopped 137).\n"
    assert fetched(opened["url"]).status_code == 404
    missing = cli("service", "logs", desk.id, "nothing")
    assert missing.returncode == 2 and "there is no service 'nothing'" in missing.stderr
    assert "NAME" in cli("service", "logs", desk.id).stderr


def test_the_name_of_a_preview_is_in_no_event_no_log_and_no_process_list(desk: Sitting) -> None:
    ran(desk, command=SITE, service="web")
    url = preview(desk, "web")
    assert fetched(url).status_code == 200
    token = urlsplit(url).netloc.partition(".")[0]
    assert len(token) == 32
    assert token not in json.dumps(desk.house.events())
    assert token not in desk.house.log_tail()
    assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if token.encode() in path.read_bytes()]
