"""Tasks handed to an external agent: it works in a machine, its requests pass the gate, its changes land."""

from __future__ import annotations

import json
from pathlib import Path

from tests.egress.bench import make_certificate
from tests.fakes.vendors import vendor
from tests.fakes.wire import Json, Turn
from tests.flows.conftest import shared_house as house
from tests.flows.delegation import add, answered, asked, delegate, handed, handing, report, requests
from tests.flows.house import LivingHome
from tests.flows.mcp_homes import home_events
from tests.flows.served import in_thread
from tests.flows.sitting import Sitting
from tests.promises import promise

__all__ = ["house"]
VENDOR, OTHER, VALUE = "api.pears.example.com", "other.example.com", "pear-key-4711-4711-4711"


@promise("OBJ-8.delegate", "SEC-1.delegated")
def test_a_task_is_handed_over_and_what_the_agent_changed_lands(house: LivingHome, project: Path) -> None:
    add(house)
    sitting = delegate(house, project, "write notes/pears.txt 41 pears", "run wc -c notes/pears.txt", "say all counted")
    assert (project / "notes/pears.txt").read_text() == "41 pears"
    text = report(sitting)
    assert "[pear: it says that it is done]" in text and "[it changed: notes/pears.txt]" in text, text
    assert "8 notes/pears.txt\nall counted" in text
    assert requests(sitting) == [("write", "allow", True), ("shell", "allow", True)]
    (question,) = asked(sitting)
    assert question["tool"] == "delegate" and VENDOR in question["arguments"]
    (end,) = [body for body in sitting.bodies("tool.finished") if body["tool"] == "delegate"]
    assert end["label"]["integrity"] == "untrusted" and end["changed"] == ["notes/pears.txt"]
    ended = home_events(house, "external_agent.run_ended")[-1]
    assert (ended["report"]["end"], ended["report"]["asked"], ended["report"]["changed"]) == ("done", 2, 1)
    assert [mark["why"] for mark in sitting.items("checkpoints")] == ["turn"]


@promise("SEC-1.delegated")
def test_what_asks_of_a_model_asks_of_an_agent_and_a_no_reaches_it(house: LivingHome, project: Path) -> None:
    add(house)
    task = handing("write a.txt one", "run touch b.txt", "odd the moon", "say over")
    with handed(house, project, task, profile="ask") as sitting:
        answered(sitting, delegate="once", write="once", shell="deny", agent_action="deny")
    assert (project / "a.txt").read_text() == "one" and not (project / "b.txt").exists()
    asks = [("write", "ask", True), ("shell", "ask", False), ("agent_action", "ask", False)]
    assert requests(sitting) == asks
    assert "asked for leave 3 times, was refused 2 times" in report(sitting)
    levels = {question["tool"]: question["level"] for question in asked(sitting)}
    assert levels["agent_action"] == "confirm"


@promise("SEC-1.delegated")
def test_an_agents_question_stands_in_every_door_while_it_waits(house: LivingHome, project: Path) -> None:
    add(house)
    with handed(house, project, handing("odd a ladder", "say up"), profile="work") as sitting:
        answered_at: list[str] = []

        def waits() -> bool:
            for question in house.get("/approvals", session=sitting.id)["items"]:
                if question["tool"] == "delegate":
                    sitting.answer()
                else:
                    answered_at.append(question["key"])
            return bool(answered_at)

        house.until(waits, "the agent's question")
        assert sitting.row()["status"] == "waiting"
        listed = house.cli("approvals")
        assert "agent_action" in listed.stdout and "a ladder" in listed.stdout, listed.stdout
        shown = house.get(f"/sessions/{sitting.id}/timeline")["items"]
        (step,) = [item for item in shown if item.get("key") == answered_at[0]]
        assert step["state"] == "asking" and step["reasoning"] == "pear asks leave: a ladder"
        answered(sitting, agent_action="once")
    assert requests(sitting) == [("agent_action", "ask", True)]


def test_changes_that_a_program_of_the_persons_would_obey_are_held(house: LivingHome, project: Path) -> None:
    add(house)
    sitting = delegate(house, project, "bare .vscode/tasks.json {}", "bare plain.txt yes")
    assert not (project / ".vscode/tasks.json").exists() and (project / "plain.txt").exists()
    assert "held for the person's review" in report(sitting)
    assert [change["path"] for change in house.get(f"/objectives/{sitting.id}/trial")["changes"]]


def test_a_session_that_may_only_read_hands_nothing_over(house: LivingHome, project: Path) -> None:
    add(house)
    sitting = delegate(house, project, "bare a.txt one", profile="readonly")
    assert sitting.bodies("call.judged")[-1]["verdict"] == "deny" and not (project / "a.txt").exists()


def test_agents_are_managed_by_the_command_line(own_house: LivingHome, project: Path) -> None:
    house = own_house
    add(house)
    assert "pear answered: pear 1.2 signs in by key" in house.cli("agent", "test", "pear").stdout
    assert VENDOR in house.cli("agent", "list").stdout and VENDOR in house.cli("agent", "show", "pear").stdout
    delegate(house, project, "say hello")
    runs = house.cli("agent", "runs").stdout
    assert "pear" in runs and "done" in runs
    wrong = {
        "name its vendor's": ("agent", "add", "plum", "--command", "plum"),
        "there is no secret": ("agent", "add", "plum", "--command", "plum", "--host", VENDOR, "--secret", "A=absent"),
        "is no name of a variable": ("agent", "add", "plum", "--command", "plum", "--host", VENDOR, "--set", "A B=1"),
        "no external agent": ("agent", "remove", "plum", "--yes"),
    }
    for says, words in wrong.items():
        refused = house.cli(*words)
        assert refused.returncode != 0 and says in refused.stderr, refused.stderr
    assert house.cli("agent", "remove", "pear", "--yes").returncode == 0
    assert "No external agent" in house.cli("agent", "list").stdout
    gone = delegate(house, project, "say hello")
    assert gone.bodies("call.judged")[-1]["reason"]["rule"] == "arguments"


@promise("SEC-7.bound")
def test_a_key_never_enters_the_machine_and_no_second_host_is_reached(tmp_path: Path, project: Path) -> None:
    tls, trust = make_certificate(tmp_path, VENDOR, OTHER)
    with in_thread(vendor(_nothing, tls)) as served:
        env = {"FETCH_PORT": str(served.port), "FETCH_TRUST": str(trust)}
        house = LivingHome(tmp_path / "home", env, "tests.flows.loopback_daemon", forked=True)
        house.start()
        try:
            house.post("/secrets", {"name": "pear", "value": VALUE})
            elsewhere = house.cli(
                *("agent", "add", "pear", "--command", "pear", "--host", OTHER, "--secret", "PEAR_KEY=pear")
            )
            assert "goes to none of its hosts" in elsewhere.stderr
            bound = {"type": "host", "host": VENDOR, "tls": True, "place": "header"}
            house.post("/secrets/pear/bindings", {"binding": bound})
            add(house, "--secret", "PEAR_KEY=pear", host=f"{VENDOR}:{served.port}")
            urls = [f"reach https://{host}:{served.port}/pears" for host in (VENDOR, OTHER)]
            sitting = delegate(house, project, *urls, "env PEAR_KEY")
            text, used = report(sitting), sitting.bodies("egress.used")
            everything = json.dumps(house.events()) + house.home.log.read_text("utf-8")
        finally:
            house.stop()
    assert "reached 200" in text and "not reached" in text and "PEAR_KEY=[PEAR_KEY]" in text, text
    (came,) = served.requests
    assert came.headers["x-api-key"] == VALUE
    assert VALUE not in text and VALUE not in everything
    assert [(one["host"], one["verdict"]) for one in used] == [
        (VENDOR, "allow"),
        (OTHER, "deny"),
    ]


def _nothing(_body: Json) -> list[Turn]:
    return []


def test_stop_ends_the_agent_and_what_it_had_changed_is_on_record(house: LivingHome, project: Path) -> None:
    add(house)
    with handed(house, project, handing("bare a.txt one", "sleep 600")) as sitting:
        house.until(lambda: sitting.row()["status"] == "waiting", "the question")
        sitting.answer()
        house.until(lambda: _running(house, sitting), "the run to begin")
        house.post(f"/sessions/{sitting.id}/stop", {"why": "enough"})
        house.until(lambda: not _running(house, sitting), "the run to end")
    (end,) = [body for body in sitting.bodies("tool.finished") if body["tool"] == "delegate"]
    assert end["outcome"] == "cancelled"
    assert home_events(house, "external_agent.run_ended")[-1]["report"]["end"] == "stopped"


def test_a_crash_leaves_the_outcome_unknown_and_no_run_open(own_house: LivingHome, project: Path) -> None:
    house = own_house
    add(house)
    with handed(house, project, handing("odd a bridge")) as sitting:

        def asks() -> bool:
            open_ = house.get("/approvals", session=sitting.id)["items"]
            if any(question["tool"] == "delegate" for question in open_):
                sitting.answer()
            return any(question["tool"] == "agent_action" for question in open_)

        house.until(asks, "the agent's question")
        house.kill()
        house.start()
        house.until(lambda: not house.get("/approvals", session=sitting.id)["items"], "the question to lapse")
        sitting.rest()
    (end,) = [body for body in sitting.bodies("tool.finished") if body["tool"] == "delegate"]
    assert end["outcome"] == "unknown"
    (ended,) = home_events(house, "external_agent.run_ended")
    assert ended["report"]["end"] == "unknown"
    assert not sitting.bodies("call.answered")[0]["given"]


def _running(house: LivingHome, sitting: Sitting) -> bool:
    runs = house.get("/external-agents/runs")["items"]
    return any(run["session"] == sitting.id and run["report"] is None for run in runs)
