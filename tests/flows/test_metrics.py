"""Figures for Prometheus and the request log, as a monitor and an owner read them, and what is never in them."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.fakes.models import Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import served
from tests.promises import promise

SETTINGS = 'discover = "off"\nembedder = "off"\nrequest_log = "on"\nmetrics_port = {}\n'
CANARY = "quicksilver-canary"
"""In a goal, a title, a schedule, a tag, a query and a secret."""


@pytest.fixture
def port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


@pytest.fixture
def watched(tmp_path: Path, port: int) -> Iterator[LivingHome]:
    """A home with both switched on."""
    house = LivingHome(tmp_path / "home", forked=True)
    house.home.make()
    house.home.settings.write_text(SETTINGS.format(port), "utf-8")
    house.start()
    yield house
    house.stop()


def ask(port: int, path: str = "/metrics", method: str = "GET", **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    with contextlib.closing(connection):
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def figures(house: LivingHome, port: int) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    token = house.home.metrics_token.read_text("utf-8")
    status, text = ask(port, Authorization=f"Bearer {token}")
    assert status == 200, text
    assert CANARY not in text and str(house.root.parent) not in text
    families = list(text_string_to_metric_families(text))
    assert all(family.documentation and family.type != "unknown" for family in families)
    samples = [sample for family in families for sample in family.samples]
    found = {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in samples}
    assert len(found) == len(samples), "no series twice"
    return found


def _busy(house: LivingHome, project: Path) -> str:
    """Work with the canary in every name that a person gives; gives the objective."""
    house.post("/secrets", {"name": "portal", "value": CANARY})
    job = {"type": "session.open", "directory": str(project), "goal": CANARY}
    house.post("/schedules", {"name": "night", "when": {"type": "cron", "expression": "0 3 * * *"}, "job": job})
    id = house.give(f"List the headings of README.md\n{CANARY}", project, title=CANARY)
    house.finish(id)
    house.get("/search", q=CANARY)
    return id


@promise("OPS-2.metrics")
def test_a_monitor_reads_figures_with_the_token_and_no_name_or_word_of_the_work_is_among_them(
    watched: LivingHome, project: Path, port: int
) -> None:
    with served(lambda _: Turn("It has three headings.", usage=(900, 100, 0, 0))) as model:
        use_model(watched, model.openai)
        before = figures(watched, port)
        assert before[("stead_approvals_waiting", ())] == 0
        _busy(watched, project)
    after = figures(watched, port)
    [name] = {dict(labels)["model"] for at, labels in after if at == "stead_model_requests_total"}
    of = (("model", name), ("outcome", "replied"))
    assert after[("stead_model_requests_total", of)] >= 1
    assert after[("stead_model_tokens_total", (("kind", "in"), ("model", name)))] >= 900
    assert after[("stead_sessions", (("kind", "objective"), ("state", "answered")))] == 1
    assert after[("stead_schedules", (("state", "on"),))] == 1
    assert after[("stead_journal_events_total", ())] > before[("stead_journal_events_total", ())]
    assert after[("stead_journal_bytes", ())] > 0 and after[("process_resident_memory_bytes", ())] > 1e6
    assert 0 <= after[("stead_loop_lag_seconds", ())] < 5
    assert after[("process_cpu_seconds_total", ())] > 0
    watched.stop()
    watched.start()
    assert figures(watched, port)[("stead_model_requests_total", of)] == after[("stead_model_requests_total", of)]


@promise("OPS-2.metrics")
def test_without_the_very_token_the_port_says_nothing_and_nothing_else_is_behind_it(
    watched: LivingHome, port: int
) -> None:
    file = watched.home.metrics_token
    token = file.read_text("utf-8")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and len(token) >= 43
    door = json.loads(watched.home.address.read_text("utf-8"))
    for wrong in (
        "",
        "Bearer",
        "Bearer ",
        f"Bearer {token[:-1]}",
        f"bearer {token}",
        f"Basic {token}",
        token,
        f"Bearer {door['bearer']}",
    ):
        assert ask(port, **({"Authorization": wrong} if wrong else {})) == (401, "")
    good = {"Authorization": f"Bearer {token}"}
    for path in ("/", "/api/v1/status", "/metrics/", "/metrics?x=1/..", "/api/v1/events", "//metrics", "/metrics%00"):
        status, text = ask(port, path, **good)
        assert (status, text) == (404, "") or path.startswith("/metrics?")
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "HEAD"):
        assert ask(port, "/metrics", method, **good)[0] == 404
    assert ask(door["port"], "/api/v1/status", Authorization=f"Bearer {token}")[0] in (401, 403, 421)
    with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:  # two bearers are none
        twice = f"Authorization: Bearer {token}\r\nAuthorization: Bearer x\r\n"
        raw.sendall(f"GET /metrics HTTP/1.1\r\nHost: x\r\n{twice}\r\n".encode())
        assert raw.recv(100).startswith(b"HTTP/1.1 401")


def test_metrics_and_the_request_log_are_off_unless_they_are_switched_on(house: LivingHome) -> None:
    house.get("/status")
    assert not house.home.metrics_token.exists() and not house.home.request_log.exists()
    refused = house.cli("logs", "--requests")
    assert refused.returncode != 0 and 'request_log = "on"' in refused.stderr


@promise("OPS-2.request-log")
def test_the_request_log_has_a_line_for_each_request_and_nothing_that_was_asked(
    watched: LivingHome, project: Path
) -> None:
    with served(lambda _: Turn("It has three headings.", usage=(900, 100, 0, 0))) as model:
        use_model(watched, model.openai)
        id = _busy(watched, project)
    door = json.loads(watched.home.address.read_text("utf-8"))
    ask(door["port"], f"/api/v1/{CANARY}?q={CANARY}", CANARY)
    ask(door["port"], f"/{CANARY}", Host=f"{CANARY}.localhost")
    text = watched.home.request_log.read_text("utf-8")
    for kept_out in (CANARY, id, door["bearer"], str(project), "night", "portal", "?"):
        assert kept_out not in text, kept_out
    lines = [json.loads(line) for line in text.splitlines()]
    assert all(set(line) == {"ts", "method", "route", "status", "ms", "bytes", "door"} for line in lines)
    given = next(line for line in lines if (line["method"], line["route"]) == ("POST", "/objectives"))
    assert given["status"] == 201 and given["door"] == "cli" and given["bytes"] > 0 <= given["ms"]
    assert any(line["route"] == "/objectives/{session}" for line in lines)
    assert stat.S_IMODE(watched.home.request_log.stat().st_mode) == 0o600
    shown = watched.cli("logs", "--requests", "-n", "5")
    assert shown.returncode == 0 and re.search(r'"route": "/', shown.stdout)
