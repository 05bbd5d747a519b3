"""What schedules watch, from outside: no change costs nothing, a change is one run, also around a power cut."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.dovecot import PASSWORD, USER, running_dovecot
from tests.fakes.models import Call, Turn
from tests.flows.hours import Hours
from tests.ics import calendar, event
from tests.promises import promise


@pytest.fixture
def hours(tmp_path: Path, project: Path) -> Iterator[Hours]:
    opened = Hours(tmp_path, project)
    yield opened
    opened.close()


def added(hours: Hours, *words: str, verb: str = "add") -> str:
    goal = ("--dir", str(hours.project), "--when", "every 1h")
    done = hours.house.cli("schedule", verb, "news", *goal, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


@promise("SCH-4.compared", "SCH-4.change")
def test_only_a_change_of_what_is_watched_starts_a_run_which_is_told_of_it(hours: Hours, project: Path) -> None:
    shown = added(hours, "Look at what is new", "--watch", "folder=.", "--watch", "command=cat README.md | wc -l")
    assert "watches: the folder, command cat README.md | wc -l" in shown
    tried = hours.house.cli("schedule", "check", "news").stdout
    assert "new" in tried and "1 items" in tried
    for _ in range(3):
        hours.later()
    assert hours.asked == [] and hours.runs() == []
    (project / "README.md").write_text("# Quill\n\nPears are in.\n")
    assert "changed" in hours.house.cli("schedule", "check", "news").stdout
    hours.later()
    (run,) = hours.runs()
    assert "changed: README.md" in run["given"] and "command cat README.md" in run["given"]
    (handed,) = hours.house.bodies(run["session"], "message.received")
    assert handed["material"] == "what has changed" and handed["label"]["integrity"] == "untrusted"
    asked = len(hours.asked)
    assert asked == 1 and "changed: README.md" in hours.asked[0]
    for _ in range(3):
        hours.later()
    assert len(hours.asked) == asked
    history = hours.house.cli("schedule", "history", "news").stdout
    assert "was as before" in history and "Changed: the folder" in history
    assert "times quiet, last" in hours.house.cli("schedule", "show", "news").stdout
    for odd, said in (("mail=x", "says no watch"), ("file=../x", "no path within"), ("port=h", "says no watch")):
        refused = hours.house.cli("schedule", "change", "news", "--watch", odd)
        assert refused.returncode == 2 and said in refused.stderr, refused.stderr
    assert "watches:" not in hours.house.cli("schedule", "change", "news", "--watch", "none").stdout


@pytest.mark.long
@promise("SCH-4.compared", "SCH-4.change")
def test_a_calendar_is_compared_by_its_events_and_what_a_server_restamps_is_no_change(
    hours: Hours, project: Path
) -> None:
    file = project / "team.ics"
    pears = event("pears", "20990301T090000Z", "SUMMARY:Pears", "RRULE:FREQ=WEEKLY")
    file.write_text(calendar(pears, event("plums", "20990302T090000Z", "SUMMARY:Plums", "DTSTAMP:20260101T000000Z")))
    added(hours, "Look at the calendar", "--watch", "calendar=team.ics")
    hours.later()
    plums = event("plums", "20990302T090000Z", "SUMMARY:Plums", "DTSTAMP:20270101T000000Z", "SEQUENCE:7")
    file.write_text(calendar(plums, pears))
    hours.later()
    assert hours.runs() == []
    file.write_text(calendar(pears.replace("T090000", "T100000"), event("figs", "20990303", "SUMMARY:Figs")))
    hours.later()
    (run,) = hours.runs()
    assert "new: 2099-03-03" in run["given"] and "Figs" in run["given"] and "gone: 1 of its events" in run["given"]
    assert "changed: 2099-03-01 10:00:00+00:00 Pears" in run["given"]
    file.write_text("BEGIN:VCALENDAR")
    assert "unreachable" in hours.house.cli("schedule", "check", "news").stdout


@pytest.mark.long
@promise("SCH-4.compared", "SCH-4.change")
@pytest.mark.timeout(240)
def test_new_mail_of_a_mailbox_starts_one_run_also_after_a_restart_and_a_server_that_renumbers(
    tmp_path: Path, project: Path
) -> None:
    def mail(subject: str) -> bytes:
        return f"From: Mira <mira@example.org>\nSubject: {subject}\n\nHello.".encode()

    with running_dovecot() as server:
        hours = Hours(tmp_path, project, SSL_CERT_FILE=str(server.authorities))
        try:
            server.deliver(mail("before"))
            watch = f"mailbox=post,{USER}@localhost:{server.port}"
            words = ("news", "Look at the mail", "--dir", str(project), "--when", "every 1h", "--watch", watch)
            refused = hours.house.cli("schedule", "add", *words)
            assert refused.returncode != 0 and "no secret 'post'" in refused.stderr
            hours.house.post("/secrets", {"name": "post", "value": PASSWORD})
            assert f"mailbox {USER} at localhost" in added(hours, "Look at the mail", "--watch", watch)
            hours.later()
            hours.later()
            assert hours.runs() == []
            server.deliver(mail("first"))
            hours.later()
            (run,) = hours.runs()
            assert "Subject: first" in run["given"] and "before" not in run["given"]
            server.count_anew()
            hours.house.kill()
            hours.house.start()
            hours.later()
            assert len(hours.runs()) == 1, "what is renumbered is no news"
            server.deliver(mail("second"))
            hours.later()
            assert "Subject: second" in hours.runs()[-1]["given"] and len(hours.runs()) == 2
            assert PASSWORD not in str(hours.house.events())
            assert not any(b"Seen" in one for one in server.flags())
        finally:
            hours.close()


@promise("SCH-4.change")
@pytest.mark.parametrize(
    "moment_s", [0.0, 0.1, *(pytest.param(other_s, marks=pytest.mark.long) for other_s in (0.02, 0.05, 0.3))]
)
def test_a_power_cut_around_a_change_neither_loses_nor_doubles_its_run(
    hours: Hours, project: Path, moment_s: float
) -> None:
    added(hours, "Look at what is new", "--watch", "file=README.md")
    hours.later()
    (project / "README.md").write_text("Plums")
    hours.set_clock(1)
    time.sleep(moment_s)  # the moment itself is what is tried
    hours.house.kill()
    hours.house.start()
    hours.house.until(lambda: [run for run in hours.runs() if run.get("end")] != [], "the run to end")
    hours.later()
    opened = [event["stream"] for event in hours.house.events() if event["body"]["type"] == "session.opened"]
    assert [run["session"] for run in hours.runs()] == opened and len(opened) == 1


@promise("SCH-2.heartbeat")
def test_a_heartbeat_asks_nothing_while_nothing_changes_and_speaks_only_by_the_tool_for_it(
    hours: Hours, project: Path
) -> None:
    (project / "HEARTBEAT.md").write_text("- does README.md still name the pears?\n")
    shown = added(hours, "--watch", "folder=.", verb="heartbeat")
    assert "heartbeat: HEARTBEAT.md" in shown and "Go through the checklist in HEARTBEAT.md" in shown
    for _ in range(4):
        hours.later()
    assert hours.asked == [] and hours.runs() == []
    (project / "README.md").write_text("No fruit.")
    call = Call("use_tool", {"name": "notify", "arguments": {"text": "README.md names no pears any more."}})
    hours.turns = [Turn("", calls=(call,)), Turn("Told.")]
    hours.later()
    (run,) = hours.runs()
    assert run["text"] == "README.md names no pears any more."
    (project / "HEARTBEAT.md").write_text("- is there a file a.txt?\n")
    hours.turns = [Turn("URGENT: ALERT: everything is on fire")]
    hours.later()
    assert hours.runs()[1]["text"] == "it had nothing to say", "what it answers is not looked at"
    quiet = hours.house.get(f"/objectives/{hours.runs()[1]['session']}")
    assert quiet["archived"] and not hours.house.get(f"/objectives/{run['session']}")["archived"]
    assert hours.house.bodies(run["session"], "approval.requested") == []
