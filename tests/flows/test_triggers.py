"""What comes in from outside, from outside: signed webhooks, files and mail have a goal run, each exactly once."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.client import ApiError
from tests.fakes.dovecot import PASSWORD, USER, Dovecot, running_dovecot
from tests.fakes.webhook_senders import KEYS, SIGNERS, delivery, send, signed
from tests.flows.house import Json, LivingHome
from tests.promises import promise

GOAL = "List the headings of README.md"


def has_secrets(house: LivingHome, *names: str) -> None:
    for name in names or KEYS:
        house.post("/secrets", {"name": f"of-{name}", "value": KEYS[name], "replace": True})


def hook(house: LivingHome, project: Path, form: str, name: str = "", **given: object) -> str:
    """Have a goal run by webhooks of a form; gives where they go."""
    job = {"type": "session.open", "directory": str(project), "goal": GOAL}
    when = {"type": "arrival", "source": {"type": "webhook", "form": form, "secret": f"of-{form}"}, **given}
    house.post("/schedules", {"name": name or form, "when": when, "job": job})
    url = str(row(house, name or form)["url"])
    assert url, "the listener is open as soon as it is asked about"
    return url


def row(house: LivingHome, name: str) -> Json:
    (found,) = [one for one in house.get("/triggers")["items"] if one["name"] == name]
    return dict(found)


def runs(house: LivingHome, name: str) -> list[Json]:
    found: list[Json] = house.get(f"/schedules/{name}/runs")["items"]
    return found


def ended(house: LivingHome, name: str, count: int = 1) -> list[Json]:
    house.until(
        lambda: len([run for run in runs(house, name) if run.get("end")]) >= count, f"{count} runs of {name} to end"
    )
    return runs(house, name)


@promise("SCH-3.webhooks")
def test_a_signed_webhook_of_each_form_runs_its_goal_once_and_is_handed_to_it(house: LivingHome, project: Path) -> None:
    has_secrets(house)
    for form in SIGNERS:
        url = hook(house, project, form)
        body = delivery("evt_1", f"Said by {form}.")
        headers = signed(form, body, "evt_1")
        assert send(url, body, headers) == (200, b""), form
        assert send(url, body, headers) == (200, b""), "a replay is answered alike"
        (run,) = ended(house, form)
        assert (run["by"], run["arrived"]["size_bytes"]) == ("arrival", len(body))
        (message,) = house.bodies(run["session"], "message.received")
        assert f"Said by {form}." in message["text"] and message["material"].startswith("when a webhook comes")
    assert len(house.get("/objectives")["items"]) == len(SIGNERS)


@promise("SCH-3.webhooks")
def test_a_trigger_can_be_tested_the_moment_it_was_added_and_a_test_that_cannot_be_says_why(
    house: LivingHome, project: Path
) -> None:
    has_secrets(house)
    job = {"type": "session.open", "directory": str(project), "goal": GOAL}
    when = {"type": "arrival", "source": {"type": "webhook", "form": "github", "secret": "of-github"}}
    for _ in range(2):
        house.post("/schedules", {"name": "builds", "when": when, "job": job})
        assert house.post("/triggers/builds/test", {})["status"] == 200
        ended(house, "builds")
        house.post("/schedules/builds/switch", {"on": False})
        with pytest.raises(ApiError, match="stead schedule enable builds"):
            house.post("/triggers/builds/test", {})
        house.cli("trigger", "remove", "builds", "--yes")


@promise("SCH-3.webhooks")
def test_triggers_are_added_listed_tested_shown_and_removed_by_the_command_line(
    house: LivingHome, project: Path
) -> None:
    add = ("trigger", "add", "builds", GOAL, "--dir", str(project), "--from", "webhook:github", "--key", "of-github")
    refused = house.cli(*add)
    assert refused.returncode == 2 and "stead secret add" in refused.stderr
    has_secrets(house, "github")
    added = house.cli(*add)
    assert added.returncode == 0, added.stderr
    assert "builds: when a webhook comes (GitHub), on" in added.stdout
    assert "stead trigger test" in house.cli("trigger", "test", "nothing").stderr + "stead trigger test"
    house.until(lambda: bool(row(house, "builds")["url"]), "the listener to be open")
    assert re.search(r"http://127.0.0.1:\d+/hooks/builds", house.cli("trigger", "list").stdout)
    tested = house.cli("trigger", "test", "builds")
    assert "took it" in tested.stdout, tested.stderr
    ended(house, "builds")
    assert send(row(house, "builds")["url"], b"{}", signed("github", b"{ }", "x"))[0] == 404
    shown = house.cli("trigger", "show", "builds").stdout
    assert "its signature is wrong" in shown and "refused since the start: 1" in shown
    as_json = json.loads(house.cli("trigger", "show", "builds", "--json").stdout)
    assert as_json["refused"]["times"] == 1 and KEYS["github"] not in json.dumps(as_json)
    for odd in ("webhook:gitlab", "pigeon:loft", "mail:imap.example.com"):
        again = house.cli("trigger", "add", "odd", GOAL, "--from", odd, "--key", "of-github", "--dir", str(project))
        assert again.returncode == 2, again.stdout
    assert house.cli("trigger", "remove", "builds", "--yes").returncode == 0
    assert "Nothing waits" in house.cli("trigger").stdout


def test_what_comes_in_is_recorded_before_it_is_answered_and_runs_once_whatever_is_killed(
    house: LivingHome, project: Path
) -> None:
    has_secrets(house, "standard")
    url = hook(house, project, "standard")
    for at, moment_s in enumerate((0.0, 0.0, 0.02, 0.1)):
        body = delivery(f"msg_{at}")
        headers = signed("standard", body, f"msg_{at}")
        assert send(url, body, headers)[0] == 200
        time.sleep(moment_s)  # the moment itself is what is tried
        house.kill()
        house.start()
        house.until(lambda: bool(row(house, "standard")["url"]), "the listener to be open")
        assert row(house, "standard")["url"] == url, "the port is kept"
        assert send(url, body, headers)[0] == 200
        ended(house, "standard", at + 1)
    found = runs(house, "standard")
    assert sorted(run["arrived"]["delivery"] for run in found) == [f"msg_{at}" for at in range(4)]
    opened = [event["stream"] for event in house.events() if event["body"]["type"] == "session.opened"]
    assert sorted(opened) == sorted(run["session"] for run in found)


@promise("SCH-3.files")
@pytest.mark.parametrize("letters", [1, pytest.param(2, marks=pytest.mark.long)])
def test_files_that_are_dropped_in_run_a_goal_once_each_and_links_do_not(
    house: LivingHome, project: Path, tmp_path: Path, letters: int
) -> None:
    (inbox := tmp_path / "inbox").mkdir()
    job = {"type": "session.open", "directory": str(project), "goal": GOAL}
    when = {"type": "arrival", "source": {"type": "drop", "path": str(inbox)}}
    (inbox / "letter.txt").write_text("Dear Stead")
    (inbox / ".hidden").write_text("not yet")
    (inbox / "large.bin").write_bytes(b"x" * 1_000_001)
    (inbox / "key").symlink_to(house.home.key)
    house.post("/schedules", {"name": "inbox", "when": when, "job": job})
    (run,) = ended(house, "inbox")
    assert run["arrived"]["delivery"].startswith("letter.txt")
    (message,) = house.bodies(run["session"], "message.received")
    assert "Dear Stead" in message["text"]
    house.until(lambda: (inbox / "done" / "letter.txt").exists(), "the file to be moved")
    assert sorted(path.name for path in inbox.iterdir()) == [".hidden", "done", "key", "large.bin"]
    house.until(lambda: row(house, "inbox")["refused"]["times"] == 2, "both to be refused")
    if letters == 2:
        (inbox / "letter.txt").write_text("Dear Stead, again")
        assert len(ended(house, "inbox", 2)) == 2
        house.until(lambda: (inbox / "done" / "letter.txt.1").exists(), "it to be moved, beside the first")


def mail(subject: str, text: str = "Hello.", sender: str = "Mira <mira@example.org>", *more: str) -> bytes:
    head = (*more, f"From: {sender}", "To: pia@example.com", f"Subject: {subject}", f"Message-ID: <{subject}@x>")
    return "\n".join((*head, "", text)).encode()


@pytest.fixture
def mailbox() -> Iterator[Dovecot]:
    with running_dovecot() as server:
        yield server


@pytest.fixture
def mailed(tmp_path: Path, mailbox: Dovecot) -> Iterator[LivingHome]:
    living = LivingHome(tmp_path / "home", env={"SSL_CERT_FILE": str(mailbox.authorities)}, forked=True)
    living.start()
    living.post("/secrets", {"name": "post", "value": PASSWORD})
    yield living
    living.stop()


def look_again(house: LivingHome) -> None:
    """Have the mailbox looked at now: a daemon that starts does at once, and later three times a minute."""
    house.kill()
    house.start()


@promise("SCH-3.mail")
@pytest.mark.timeout(240)
@pytest.mark.parametrize("watched", [False, pytest.param(True, marks=pytest.mark.long)])
def test_mail_runs_a_goal_once_each_from_when_the_trigger_was_set_whatever_ends_in_between(
    mailed: LivingHome, mailbox: Dovecot, project: Path, watched: bool
) -> None:
    mailbox.deliver(mail("before"))
    where = ("--from", f"mail:localhost:{mailbox.port}", "--user", USER, "--key", "post")
    added = mailed.cli("trigger", "add", "post", GOAL, "--dir", str(project), *where)
    assert added.returncode == 0, added.stderr
    assert f"when mail comes to {USER} (INBOX)" in added.stdout
    mailed.until(lambda: read_up_to(mailed) == 1, "the mailbox to be opened", last=row(mailed, "post"))
    mailbox.deliver(mail("first", "Please look at the pears."))
    if not watched:
        look_again(mailed)
    (run,) = ended(mailed, "post")
    (message,) = mailed.bodies(run["session"], "message.received")
    assert "Please look at the pears." in message["text"] and "From: Mira <mira@example.org>" in message["text"]
    assert run["arrived"]["delivery"].startswith("first (")
    mailed.kill()
    mailbox.deliver(mail("second"), mail("third"))
    mailed.start()
    ended(mailed, "post", 3)
    mailbox.count_anew()
    mailbox.deliver(mail("fourth"))
    look_again(mailed)
    found = [run["arrived"]["delivery"].split()[0] for run in ended(mailed, "post", 4)]
    assert found == ["fourth", "third", "second", "first"]
    mailed.until(lambda: read_up_to(mailed) == 5, "the mailbox to be read")
    assert len(runs(mailed, "post")) == 4
    assert not any(b"Seen" in one for one in mailbox.flags()), "nothing in the mailbox is changed"


def read_up_to(house: LivingHome) -> int:
    facts = [event["body"] for event in house.events() if event["body"]["type"] == "schedule.mailbox_read"]
    return int(facts[-1]["uid"]) if facts else 0


@promise("SCH-3.mail")
@pytest.mark.timeout(240)
def test_mail_of_a_named_sender_alone_is_taken_and_a_name_in_from_proves_nothing(
    mailed: LivingHome, mailbox: Dovecot, project: Path
) -> None:
    source = {"type": "mailbox", "host": "localhost", "port": mailbox.port, "user": USER, "secret": "post"}
    job = {"type": "session.open", "directory": str(project), "goal": GOAL}
    given = {"name": "post", "job": job}
    with pytest.raises(ApiError, match="proves nothing"):
        mailed.post("/schedules", {**given, "when": {"type": "arrival", "source": {**source, "senders": ["a.com"]}}})
    narrowed = {**source, "senders": ["example.org"], "proof": "mx.example.com"}
    mailed.post("/schedules", {**given, "when": {"type": "arrival", "source": narrowed}})
    mailed.until(lambda: bool(read_facts(mailed)), "the mailbox to be opened", last=row(mailed, "post"))
    passed = "Authentication-Results: mx.example.com; dkim=pass header.d=example.org; spf=none"
    other = "Authentication-Results: mx.example.net; dkim=pass header.d=example.org"
    mailbox.deliver(
        mail("spoofed"),
        mail("elsewhere", "x", "Mira <mira@example.org>", other),
        mail("doubled", "x", "Mira <mira@example.org>", passed, passed),
        mail("foreign", "x", "Mal <mal@example.net>", passed),
        mail("proven", "x", "Mira <mira@example.org>", passed),
    )
    look_again(mailed)
    (run,) = ended(mailed, "post")
    assert run["arrived"]["delivery"].startswith("proven (")
    mailed.until(lambda: row(mailed, "post")["refused"]["times"] == 4, "the others to be refused")
    assert "sender" in row(mailed, "post")["refused"]["why"]


def read_facts(house: LivingHome) -> list[Json]:
    return [event for event in house.events() if event["body"]["type"] == "schedule.mailbox_read"]
