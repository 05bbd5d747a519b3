"""Setting a model up, as a person does it: each step says whether it worked, and one answer says how things stand."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.fakes.models import Turn
from tests.flows.house import LivingHome
from tests.flows.served import served

KEY = "sk-invented-4711-abcdef"


class Guarded(BaseHTTPRequestHandler):
    """A vendor that refuses every key, and echoes it."""

    def do_GET(self) -> None:
        """Refuse."""
        body = b'{"error": {"message": "Incorrect API key provided: %s"}}' % KEY.encode()
        self.send_response(401)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def refusing() -> Iterator[str]:
    """The address of a vendor that refuses every key."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Guarded)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def model_part(house: LivingHome) -> tuple[str, str]:
    """The verdict on the model, and its words."""
    status = house.get("/status")
    part = next(part for part in status["parts"] if part["name"] == "model")
    assert status["ready"] == all(part["verdict"] != "fail" for part in status["parts"])
    return part["verdict"], part["text"]


def test_a_model_is_ready_once_its_key_was_tried_and_a_restart_keeps_the_choice(
    house: LivingHome, refusing: str
) -> None:
    assert model_part(house)[0] == "warn" and not house.get("/status")["chosen"]
    house.post("/providers", {"name": "acme", "preset": "openai", "base_url": refusing, "model": "m1", "key": "vault"})
    house.post("/chain", {"chain": [{"provider": "acme", "model": "m1"}]})
    assert house.get("/status")["chosen"]
    assert model_part(house) == ("fail", "acme/m1: acme has no key (missing)")
    house.post("/providers/acme/key", {"key": KEY})
    assert model_part(house) == ("ok", "acme/m1")
    check = house.post("/providers/acme/test")
    assert (check["ok"], check["kind"], check["text"]) == (False, "auth", "401 the key was refused")
    assert check["duration_ms"] < 5000 and KEY not in str(check)
    assert model_part(house) == ("fail", "acme/m1: 401 the key was refused")
    row = next(row for row in house.get("/providers")["items"] if row["name"] == "acme")
    assert row["checked"]["kind"] == "auth" and row["checked"]["at_ms"] > 0

    with served([Turn("ready")] * 2) as model:
        changed = {"name": "acme", "preset": "openai", "base_url": model.openai, "model": "m1", "key": "vault"}
        house.post("/providers", changed)
        assert model_part(house) == ("ok", "acme/m1")  # what was tested is no more
        assert house.post("/providers/acme/test")["ok"]
        house.post("/providers/acme/key", {"key": KEY + "-2"})
        row = next(row for row in house.get("/providers")["items"] if row["name"] == "acme")
        assert row["checked"] is None
    house.stop()
    house.start()
    assert house.get("/status")["chosen"] and model_part(house) == ("ok", "acme/m1")


def test_an_address_where_nobody_is_fails_its_test_within_seconds(house: LivingHome) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = taken.getsockname()[1]
    url = f"http://127.0.0.1:{free}/v1"
    house.post("/providers", {"name": "gone", "preset": "compatible", "base_url": url, "model": "m"})
    check = house.post("/providers/gone/test")
    assert (check["ok"], check["kind"], check["text"]) == (False, "connection", "connection refused")
    assert check["duration_ms"] < 5000


def test_looking_again_gives_the_same_answer_as_the_status(house: LivingHome) -> None:
    looked = house.post("/status/check")
    again = house.get("/status")
    assert looked["parts"] == again["parts"] and looked["isolation"] == again["isolation"]
