"""Secrets through the doors: kept, bound, told of, listed; and what of them leaves: nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.client import ApiError
from stead.domain.ends import WELL
from tests.fakes.models import Call, Turn
from tests.flows import canaries
from tests.flows.house import LivingHome, use_model
from tests.flows.served import HELD, by_turn, holding, served
from tests.machines.bench import fresh_nap, napping
from tests.promises import promise

VALUE = "correct-horse-battery-staple-4711"


def add(house: LivingHome, name: str = "shop", value: str = VALUE) -> str:
    """Add a secret as a person does; gives its placeholder."""
    done = house.cli("secret", "add", name, "--json", stdin=f"{value}\n")
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["secret"]["placeholder"])


@pytest.fixture(scope="module")
def dragged(tmp_path_factory: pytest.TempPathFactory) -> canaries.Watched:
    """What left while a hostile session dragged canaries out in every form."""
    return canaries.run(tmp_path_factory.mktemp("canaries"))


@promise("SEC-7.redaction", "SEC-7.vault")
def test_no_byte_of_a_canary_leaves_whatever_a_session_does(dragged: canaries.Watched) -> None:
    assert canaries.leaks(dragged.sinks) == []
    wanted = {"event stream", "log", "journal", "/objectives", "stead logs", "request 1"}
    assert wanted <= set(dragged.sinks)


def test_the_canaries_were_there_and_gave_way_to_their_placeholders(dragged: canaries.Watched) -> None:
    journal = dragged.sinks["journal"].decode()
    for name in ("shop", "odd", "lines", "provider-acme", "env-openai_api_key"):
        assert re.search(rf"\{{\{{secret:{name}#[0-9a-f]{{8}}\}}\}}", journal), name
    assert dragged.calls >= 22
    requests = b"".join(content for sink, content in dragged.sinks.items() if sink.startswith("request "))
    for content in (requests, dragged.sinks["event stream"], dragged.sinks["/search?q=key"]):
        assert b"{{secret:shop#" in content


@promise("SEC-7.bound")
def test_what_needs_a_value_worked_meanwhile(dragged: canaries.Watched) -> None:
    bound, elsewhere = dragged.keys
    assert bound == canaries.SHOP
    assert re.fullmatch(r"\{\{secret:shop#[0-9a-f]{16}\}\}", elsewhere)
    assert b"egress.used" in dragged.sinks["event stream"]
    assert dragged.sinks["file in the machine"].count(b"{{secret:shop#") >= len(canaries.forms(canaries.SHOP))


@pytest.mark.parametrize("form", sorted(canaries.forms("a value")))
def test_the_search_for_canaries_finds_each_form(form: str) -> None:
    text = canaries.forms(canaries.ODD)[form]
    assert canaries.leaks({"place": f"x{text}y".encode()})
    assert canaries.leaks({"place": json.dumps({"text": f"x{text}y"}).encode()})
    assert not canaries.leaks({"place": b"nothing of it"})


def test_no_process_below_the_daemon_has_a_canary_on_its_command_line_or_in_its_environment(
    tmp_path: Path, project: Path
) -> None:
    house, nap = LivingHome(tmp_path / "home", env={"OPENAI_API_KEY": canaries.ENVIRONMENT}), fresh_nap()
    house.start()
    try:
        with served(by_turn(Turn("", calls=(Call("shell", {"command": f"sleep {nap}"}),)))) as model:
            add(house, "shop", canaries.SHOP)
            use_model(house, model.openai)
            id = house.give(f"wait with {canaries.SHOP}", project, allow=["shell"], secrets=["shop"])
            house.until(lambda: bool(napping(nap)), "the command to run")
            assert house.process is not None
            seen = canaries.seen_of_processes(house.process.pid)
            house.post(f"/objectives/{id}/stop")
    finally:
        house.stop()
    assert b"sleep\0" + nap.encode() in seen
    assert canaries.leaks({"processes": seen}) == []


@promise("SEC-7.placeholders")
def test_a_model_is_told_the_placeholder_of_a_named_secret_and_of_no_other(house: LivingHome, project: Path) -> None:
    mark, other = add(house), add(house, "other", "another value of a person")
    done = house.cli("secret", "bind", "shop", "--host", "api.example.com", "--method", "get", "--path", "/v1", "--tls")
    assert done.returncode == 0, done.stderr
    with served([Turn("Done.")]) as model:
        use_model(house, model.openai)
        id = house.give("order tea", project, secrets=["shop"])
        house.finish(id)
        prompt = model.requests()[0].request.body.decode()
    own = re.search(r"\{\{secret:shop#[0-9a-f]{16}\}\}", prompt)
    assert own is not None and mark not in prompt
    assert "one header of GET requests to https://api.example.com/v1" in prompt
    assert other not in prompt
    (created,) = house.bodies(id, "session.opened")
    assert [secret["name"] for secret in created["secrets"]] == ["shop"]
    assert created["secrets"][0]["placeholder"] == own[0]
    with pytest.raises(ApiError, match="no secret 'gone'"):
        house.give("order tea", project, secrets=["gone"])


@promise("SEC-7.pasted")
def test_a_pasted_value_of_the_vault_becomes_its_placeholder_and_the_person_is_told(
    house: LivingHome, project: Path
) -> None:
    placeholder = add(house)
    answer = house.post("/objectives", {"goal": f"log in with {VALUE}", "directory": str(project)})
    assert "a value of the vault stood in your words" in answer["text"]
    assert house.get(f"/objectives/{answer['session']}")["goal"] == f"log in with {placeholder}"
    unknown = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    answer = house.post("/objectives", {"goal": f"log in with {unknown}", "directory": str(project)})
    assert "looks like a secret" in answer["text"]
    assert unknown in house.get(f"/objectives/{answer['session']}")["goal"]


@promise("SEC-7.detected")
def test_what_looks_like_a_secret_is_taken_out_of_what_a_tool_gives_back(house: LivingHome, project: Path) -> None:
    found = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (project / "notes.txt").write_text(f"token = {found}\n", "utf-8")
    with served(by_turn(Turn("", calls=(Call("read", {"path": "notes.txt"}),)))) as model:
        use_model(house, model.openai)
        id = house.give("read the notes", project)
        house.finish(id)
        sent = model.requests()[-1].request.body.decode()
    assert found not in sent + json.dumps(house.events(id))
    assert "[redacted: " in sent


@promise("SEC-7.commands")
def test_secrets_are_added_listed_bound_unbound_and_removed_and_never_shown(house: LivingHome, tmp_path: Path) -> None:
    assert "no secrets" in house.cli("secret", "list").stdout
    said = house.cli("secret", "add", "shop", stdin=VALUE).stdout
    assert "goes nowhere yet" in said
    for words, told in (
        (("bind", "shop", "--host", "API.example.com", "--tls"), "checked TLS connection"),
        (("bind", "shop", "--host", "*.example.org", "--method", "post", "--path", "/v1"), "plain http alone"),
        (("bind", "shop", "--host", "api.example.net", "--tls", "--in", "query:key"), "may be kept or shown"),
        (("bind", "shop", "--host", "api.example.net", "--tls", "--in", "header:X-Key"), "the header 'x-key'"),
        (("bind", "shop", "--tool", "write", "--argument", "text"), "read by every command"),
    ):
        done = house.cli("secret", *words)
        assert (done.returncode, told in done.stdout) == (0, True), done.stderr + done.stdout
    listed = house.cli("secret", "list")
    assert all(
        text in listed.stdout
        for text in (
            "any https://api.example.com/; POST http://*.example.org/v1; any https://api.example.net/ in query:key; ",
            "any https://api.example.net/ in header:x-key; write.text",
        )
    )
    assert "never" in listed.stdout
    (row,) = [json.loads(line) for line in house.cli("secret", "list", "--json").stdout.splitlines()]
    assert set(row) == {"name", "version", "placeholder", "bindings", "added_ms", "used_ms", "used_at"}
    assert house.cli("secret", "unbind", "shop", "--host", "*.example.org").returncode == 0
    assert len(house.get("/secrets")["items"][0]["bindings"]) == 4
    source = tmp_path / "value.txt"
    source.write_text("a new value of it\n", "utf-8")
    refused = house.cli("secret", "add", "shop", "--from-file", str(source))
    assert (refused.returncode, "--replace" in refused.stderr) == (2, True)
    replaced = house.cli("secret", "add", "shop", "--from-file", str(source), "--replace")
    assert "version 2" in replaced.stdout
    assert house.cli("secret", "remove", "shop", "--yes").returncode == 0
    assert house.get("/secrets")["items"] == []
    assert house.cli("secret", "show", "shop").returncode == 2
    everything = json.dumps(house.events()) + house.home.log.read_text("utf-8")
    assert VALUE not in everything
    assert "a new value of it" not in everything


@pytest.mark.parametrize(
    ("words", "stdin", "told"),
    [
        (("add", "Shop"), VALUE, "no name of a secret"),
        (("add", VALUE + "!"), "", "no name of a secret"),
        (("add", "shop"), "\n", "no value of shop was given"),
        (("add", "shop"), "abc", "at least 4 characters"),
        (("add", "shop"), "x" * 70_000, "more than 65536 bytes"),
        (("add", "shop", "--from-env", "NOT_SET"), "", "'NOT_SET' is not set"),
        (("add", "shop", VALUE), "", "more words than this command takes"),
        (("bind", "kept", "--host", "*"), "", "the host '*' cannot be bound"),
        (("bind", "kept", "--host", "a.example.com", "--in", "path"), "", "no part of a request"),
        (("bind", "kept", "--tool", "write", "--argument", "text", "--in", "header"), "", "bound by one argument"),
        (("bind", "kept", "--tool", "shell", "--argument", "command"), "", "can send or print"),
        (("bind", "shop", "--tool", "write"), "", "bound by one argument"),
        (("remove", "gone", "--yes"), "", "no secret 'gone'"),
    ],
)
def test_what_cannot_be_is_refused_with_the_way_out_and_without_the_value(
    refusing: LivingHome, words: tuple[str, ...], stdin: str, told: str
) -> None:
    done = refusing.cli("secret", *words, stdin=stdin)
    assert done.returncode == 2, done.stdout
    assert told in done.stderr
    assert VALUE not in done.stderr + done.stdout


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivingHome]:
    """A home with one secret, in which nothing is changed."""
    house = LivingHome(tmp_path_factory.mktemp("refusing") / "home", forked=True)
    house.start()
    try:
        house.post("/secrets", {"name": "kept", "value": VALUE})
        yield house
    finally:
        house.stop()


@promise("SEC-7.restart")
def test_secrets_and_bindings_survive_a_restart_and_a_kill(house: LivingHome, project: Path) -> None:
    placeholder = add(house)
    house.post("/secrets/shop/bindings", {"binding": {"type": "host", "host": "api.example.com"}})
    house.kill()
    house.start()
    (row,) = house.get("/secrets")["items"]
    assert (row["placeholder"], row["bindings"][0]["host"]) == (placeholder, "api.example.com")
    id = house.give(f"use {VALUE}", project)
    assert house.get(f"/objectives/{id}")["goal"] == f"use {placeholder}"


@promise("SEC-7.tool")
def test_a_tool_gets_a_value_in_the_argument_that_it_is_bound_to_and_nobody_sees_it(
    house: LivingHome, project: Path
) -> None:
    shop, other = HELD, add(house, "other", "another value of a person")
    add(house)
    house.post("/secrets/shop/bindings", {"binding": {"type": "tool", "tool": "write", "argument": "text"}})
    text = f"KEY={shop}\nOTHER={other}\nFORGED={{{{secret:shop#00000000}}}}\n"
    calls = (
        Call("write", {"path": ".settings", "text": text}),
        Call("edit", {"path": ".settings", "old": "FORGED", "new": shop}),
        Call("shell", {"command": f"cat .settings; echo {shop} > said.txt"}),
    )
    with served(holding(by_turn(*(Turn("", calls=(call,)) for call in calls)))) as model:
        use_model(house, model.openai)
        id = house.give("set it up", project, secrets=["shop"], allow=["write", "edit", "shell"])
        assert house.finish(id, answer="once")["status"] in WELL
        sent = b"".join(seen.request.body for seen in model.requests()).decode()
    assert f"KEY={VALUE}\nOTHER={other}\n" in (project / ".settings").read_text("utf-8")
    assert re.fullmatch(r"\{\{secret:shop#[0-9a-f]{16}\}\}\n", (project / "said.txt").read_text("utf-8"))
    assert VALUE not in sent + json.dumps(house.events())
    house.until(lambda: house.get("/secrets")["items"][1]["used_at"] == "write.text", "the use to be recorded")
