"""MCP servers over HTTP: signed in to, asked, and told no more than they need."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.fakes.mcp_http import Orchard, orchard
from tests.flows.conftest import shared_house as house
from tests.flows.house import LivingHome
from tests.flows.mcp_homes import carry_out, everything, home_events, told, use
from tests.flows.served import in_thread
from tests.promises import promise

__all__ = ["house"]


@pytest.fixture
def server() -> Iterator[Orchard]:
    with in_thread(orchard()) as served:
        yield served


def sign_in(house: LivingHome, name: str) -> str:
    """Sign in as a person with a browser does; gives where they were sent."""
    words = [house.python, "-m", "stead", "mcp", "login", name]
    with subprocess.Popen(words, env=house.environment, stdout=subprocess.PIPE, text=True) as login:
        assert login.stdout is not None
        url = login.stdout.readline().rpartition(" ")[2].strip()
        with urllib.request.urlopen(url, timeout=20) as page:  # follows to the port that was opened for it
            assert "close this page" in page.read().decode()
        assert login.wait(30) == 0
    return url


@promise("MCP-1.http")
def test_a_person_signs_in_and_a_model_calls_the_server_without_seeing_the_token(
    house: LivingHome, project: Path, server: Orchard
) -> None:
    done = house.cli("mcp", "add", "orchard", "--url", server.url, "--private")
    assert done.returncode == 1 and "stead mcp login orchard" in done.stdout + done.stderr
    asked = parse_qs(urlsplit(sign_in(house, "orchard")).query)
    assert asked["code_challenge_method"] == ["S256"] and asked["resource"] == [server.url]
    assert asked["scope"] == ["pears"]
    assert house.cli("mcp", "review", "orchard", "--yes").returncode == 0
    sitting = carry_out(house, project, use("mcp__orchard__count_pears", orchard="north"))
    [(tool, outcome, text)] = told(sitting)
    assert (tool, outcome, text) == ("mcp__orchard__count_pears", "ok", "There are 41 pears.")
    [finished] = sitting.bodies("tool.finished")
    assert finished["source"] == "web:127.0.0.1" and finished["label"]["integrity"] == "untrusted"
    assert [call["arguments"] for call in server.calls] == [{"orchard": "north"}]
    kept = everything(house)
    assert not any(token in kept for token in (*server.tokens, *server.refreshes))
    assert home_events(house, "mcp.configured")[-1]["server"]["url"] == server.url


def test_a_call_that_needs_more_is_answered_after_another_sign_in_and_one_that_ended_is_renewed(
    house: LivingHome, project: Path, server: Orchard
) -> None:
    assert house.cli("mcp", "add", "renewed", "--url", server.url, "--private", "--no-test").returncode == 0
    server.lasts_s = 1  # it is renewed before each request
    sign_in(house, "renewed")
    assert house.cli("mcp", "review", "renewed", "--yes").returncode == 0
    server.scope = "pears more"
    sitting = carry_out(house, project, use("mcp__renewed__count_pears", orchard="north"))
    assert "stead mcp login renewed" in told(sitting)[0][2]
    sign_in(house, "renewed")
    sitting = carry_out(house, project, use("mcp__renewed__count_pears", orchard="north"))
    assert told(sitting)[0][1] == "ok"
    assert "pears more" in server.tokens.values()
    assert any(form["grant_type"] == "refresh_token" for form in server.forms)


def test_a_client_signs_in_by_its_own_credentials_with_the_issuer_that_gave_them(
    house: LivingHome, project: Path, server: Orchard
) -> None:
    words = ("--url", server.url, "--private", "--client-id", "robot", "--client-credentials", "--issuer")
    secret = "robot-secret-value"
    done = house.cli("mcp", "add", "robot", *words, server.root, stdin=secret)
    assert done.returncode == 0, done.stdout + done.stderr
    assert house.cli("mcp", "review", "robot", "--yes").returncode == 0
    sitting = carry_out(house, project, use("mcp__robot__count_pears", orchard="north"))
    assert told(sitting)[0][1] == "ok"
    assert secret not in everything(house)
    other = house.cli("mcp", "add", "stray", *words, "https://elsewhere.example.com", stdin=secret)
    assert other.returncode == 1 and "other authorization servers" in other.stdout + other.stderr
    assert len([form for form in server.forms if form["grant_type"] == "client_credentials"]) == 1


def test_a_stateless_server_that_asks_something_hears_what_the_person_confirmed(
    house: LivingHome, project: Path, server: Orchard
) -> None:
    server.guarded = False
    assert house.cli("mcp", "add", "asks", "--url", server.url, "--private").returncode == 0
    assert house.cli("mcp", "review", "asks", "--yes").returncode == 0
    sitting = carry_out(house, project, use("mcp__asks__count_pears", orchard="asks"))
    question = told(sitting)[0][2]
    assert "asks the person something first, in its own words: Which row?" in question
    id = question.partition('"question": "')[2].partition('"')[0]
    again = carry_out(house, project, use("mcp_answer", question=id, content={"row": "7"}))
    assert told(again)[0][1] == "error", "it is another session's question"
    assert "inputResponses" not in json.dumps(server.calls)


def test_a_server_is_removed_with_its_token(house: LivingHome, server: Orchard) -> None:
    assert house.cli("mcp", "add", "gone", "--url", server.url, "--private", "--no-test").returncode == 0
    sign_in(house, "gone")
    rows = {row["server"]["name"]: row for row in house.get("/mcp")["items"]}
    assert rows["gone"]["signed_in"]
    assert house.cli("mcp", "remove", "gone", "--yes").returncode == 0
    assert house.cli("mcp", "add", "gone", "--url", server.url, "--private", "--no-test").returncode == 0
    rows = {row["server"]["name"]: row for row in house.get("/mcp")["items"]}
    assert not rows["gone"]["signed_in"]
