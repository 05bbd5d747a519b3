"""The way out through the whole daemon: asked, refused, allowed by the person, and told of.

The host's name ends in ``.invalid``, which no resolver knows: who gets as far as the resolver was allowed.
"""

from __future__ import annotations

import json
from pathlib import Path

from stead.domain.ends import WELL
from tests.fakes.models import Call, Turn
from tests.flows.asking import Site, serving
from tests.flows.conftest import shared_house as house
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, in_thread, served
from tests.promises import promise

__all__ = ["house"]

CURL = "curl -sS -m 30 'http://shop.invalid/pens?q=tea'"


def shell(command: str, *hosts: str) -> Turn:
    """A turn that runs a command."""
    arguments: dict[str, object] = {"command": command}
    return Turn("", calls=(Call("shell", arguments | ({"hosts": list(hosts)} if hosts else {})),))


def texts(house: LivingHome, id: str) -> list[str]:
    """What the model read of its calls."""
    return [end["text"] for end in house.bodies(id, "tool.finished")]


@promise("SEC-6.network")
def test_a_host_is_reached_only_once_the_person_allowed_it(house: LivingHome, project: Path) -> None:
    with served(by_turn(shell(CURL), shell(CURL.replace("tea", "tea&n=2")), then=Turn("Done."))) as model:
        use_model(house, model.openai)
        id = house.give("look at the pens", project)
        house.wait(id, "waiting")
        first = house.get("/approvals", session=id)["items"][0]
        house.post(f"/approvals/{first['id']}/decision", {"answer": "once", "digest": first["digest"], "whole": True})
        house.until(lambda: len(texts(house, id)) == 1, "the first call to end")
        house.wait(id, "waiting")
        allowed = house.cli("egress", "allow", "Shop.invalid", "--dir", str(project))
        assert allowed.returncode == 0, allowed.stderr
        assert house.finish(id, answer="once")["status"] in WELL
    refused, reached = texts(house, id)
    named = "the proxy refused shop.invalid: nobody allowed it here; the person can: stead egress allow shop.invalid "
    assert refused.count(f"[{named}--dir {project}]") == 1 and "the proxy refused" not in reached
    first, second = house.bodies(id, "tool.finished")
    assert [warning["text"] for warning in first["warnings"]] == [f"{named}--dir {project}"]
    assert second["warnings"] == []
    assert "egress-host" in refused and "egress-unreachable" in reached
    used = house.bodies(id, "egress.used")
    assert [one["reason"]["rule"] for one in used] == ["egress-host", "egress-unreachable"]
    assert [(one["host"], one["port"], one["path"], one["verdict"]) for one in used] == [
        ("shop.invalid", 80, "/pens?q=", "deny"),
        ("shop.invalid", 80, "/pens?q=&n=", "deny"),
    ]
    listed = house.cli("egress", "list")
    assert "shop.invalid" in listed.stdout and str(project) in listed.stdout
    log = house.cli("egress", "log", id)
    assert log.stdout.count("shop.invalid:80") == 2 and "egress-unreachable" in log.stdout
    assert len(house.cli("egress", "log", id, "--json").stdout.splitlines()) == 2
    assert house.cli("egress", "remove", "shop.invalid", "--dir", str(project)).returncode == 0
    assert house.cli("egress", "remove", "shop.invalid", "--dir", str(project)).returncode != 0
    assert "shop.invalid" not in house.cli("egress", "list").stdout


@promise("SEC-6.network")
def test_a_call_that_names_a_host_shows_it_in_its_question_and_reaches_it_alone(
    house: LivingHome, project: Path
) -> None:
    other = "curl -sS -m 30 http://other.invalid/"
    with served(by_turn(shell(f"{CURL}; {other}", "shop.invalid"), then=Turn("Done."))) as model:
        use_model(house, model.openai)
        id = house.give("look at the pens", project)
        house.wait(id, "waiting")
        question = house.get("/approvals", session=id)["items"][0]
        assert json.loads(question["arguments"])["hosts"] == ["shop.invalid"]
        assert house.finish(id, answer="once")["status"] in WELL
    used = house.bodies(id, "egress.used")
    assert [(one["host"], one["reason"]["rule"]) for one in used] == [
        ("shop.invalid", "egress-unreachable"),
        ("other.invalid", "egress-host"),
    ]
    assert used[0]["key"].startswith("call_") and used[1]["key"] == ""


@promise("SEC-6.network")
def test_the_hosts_of_an_objective_need_no_further_word(house: LivingHome, project: Path) -> None:
    with served(by_turn(shell(CURL), then=Turn("Done."))) as model:
        use_model(house, model.openai)
        started = house.cli(
            "run", "look at the pens", "--dir", str(project), "--host", "*.b.invalid,shop.invalid", "--detach"
        )
        assert started.returncode == 0, started.stderr
        id = str(house.get("/objectives")["items"][0]["id"])
        assert house.finish(id, answer="once")["status"] in WELL
    assert "egress-unreachable" in texts(house, id)[0]
    assert house.bodies(id, "session.opened")[0]["hosts"] == ["*.b.invalid", "shop.invalid"]


@promise("SEC-6.network")
def test_a_local_port_is_reached_once_allowed_and_the_daemon_itself_never(house: LivingHome, project: Path) -> None:
    with (
        in_thread(serving(Site({"/": "the local page"}))) as site,
        served(by_turn(*four_looks(house, site.port), then=Turn("Done."))) as model,
    ):
        use_model(house, model.openai)
        id = house.give("look at the local page", project)
        house.wait(id, "waiting")
        first = house.get("/approvals", session=id)["items"][0]
        house.post(f"/approvals/{first['id']}/decision", {"answer": "once", "digest": first["digest"], "whole": True})
        house.until(lambda: len(texts(house, id)) == 1, "the first call to end")
        for port in (site.port, daemon_port(house)):
            allowed = house.cli("egress", "allow", f"LOCALHOST:{port}", "--dir", str(project))
            assert allowed.returncode == 0, allowed.stderr
        assert f"localhost:{site.port}" in house.cli("egress", "list").stdout
        house.finish(id, answer="once")
    refused, reached, own, asked = texts(house, id)
    assert f"[the proxy refused localhost:{site.port}: nobody allowed it here; the person can: stead egress" in refused
    assert "the local page" in reached and site.asked == ["/"]
    assert "egress-address" in own and "Stead itself" in own
    assert "is no public host" in asked
    sources = [end["source"] for end in house.bodies(id, "tool.finished")]
    assert sources[:2] == ["workspace", "web:host.docker.internal workspace"]
    assert house.cli("egress", "remove", f"localhost:{site.port}", "--dir", str(project)).returncode == 0
    assert f"localhost:{site.port}" not in house.cli("egress", "list").stdout


def daemon_port(house: LivingHome) -> int:
    """Where the daemon listens."""
    return int(json.loads(house.home.address.read_text("utf-8"))["port"])


def four_looks(house: LivingHome, port: int) -> tuple[Turn, ...]:
    """A command that looks at a local port, twice, one that looks at the daemon, and a call that asks for the port."""
    look = f"curl -sS http://host.docker.internal:{port}/"
    own = f"curl -sS --noproxy '' http://localhost:{daemon_port(house)}/api/v1/objectives"
    return shell(look), shell(look + " "), shell(own), shell(look, f"localhost:{port}")


@promise("SEC-6.network")
def test_registries_are_allowed_by_one_word_and_shown_spelled_out(own_house: LivingHome, project: Path) -> None:
    assert own_house.cli("egress", "allow", "registries", "--dir", str(project), "--grants-last").returncode == 0
    listed = own_house.cli("egress", "list").stdout
    assert "registries (pypi.org, files.pythonhosted.org, registry.npmjs.org," in listed and "grants last" in listed
    (row,) = own_house.get("/egress/hosts")["items"]
    assert row["host"] == "registries" and row["grants_last"] and "proxy.golang.org" in row["hosts"]
    refused = own_house.cli("egress", "allow", "pypi.org", "--dir", str(project), "--grants-last")
    assert refused.returncode == 2 and "registries" in refused.stderr
    own_house.cli("egress", "remove", "registries", "--dir", str(project))
    assert own_house.get("/egress/hosts")["items"] == []
    started = own_house.cli("run", "x", "--dir", str(project), "--host", "registries", "--detach")
    assert started.returncode == 0, started.stderr
    id = str(own_house.get("/objectives")["items"][0]["id"])
    assert own_house.bodies(id, "session.opened")[0]["hosts"][:2] == ["pypi.org", "files.pythonhosted.org"]


def test_what_is_no_host_is_refused_with_the_way_out(house: LivingHome, project: Path) -> None:
    for host in (
        "127.0.0.1",
        "https://a.example.com",
        "localhost",
        "*.com",
        "0.0.0.0:80",
        "8.8.8.8:53",
        "*.internal:80",
    ):
        refused = house.cli("egress", "allow", host, "--dir", str(project))
        assert refused.returncode == 2 and "host" in refused.stderr, refused
    refused = house.cli("run", "x", "--dir", str(project), "--host", "10.0.0.1", "--detach")
    assert refused.returncode == 2 and "address" in refused.stderr
    assert house.cli("egress", "allow", "a.example.com", "--dir", str(project / "nowhere")).returncode == 2
