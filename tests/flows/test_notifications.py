"""Being told elsewhere: over the real wire to receivers that check what they are given."""

from __future__ import annotations

import contextlib
import json
import os
import re
import ssl
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from stead.client import ApiError
from tests.egress.bench import make_certificate
from tests.fakes.http import serve
from tests.fakes.receivers import SIGNING, PushService, Receiver, mailbox, receiver
from tests.flows.clocked_daemon import set_clock
from tests.flows.house import Json, LivingHome
from tests.flows.served import in_thread
from tests.promises import promise

GOAL = "List the headings of README.md"


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with in_thread(receiver()) as there:
        yield there


def add_hook(house: LivingHome, hook: Receiver, name: str = "hook", **given: object) -> None:
    house.post("/secrets", {"name": "signing", "value": SIGNING, "replace": True})
    via = {"type": "webhook", "url": hook.url, "secret": "signing"}
    house.post("/notifications", {"name": name, "via": via, **given})


def row_of(house: LivingHome, name: str) -> Json:
    return next(row for row in house.get("/notifications")["items"] if row["target"]["name"] == name)


def tried(house: LivingHome, tries: int) -> bool:
    return bool(row_of(house, "hook")["tries"] == tries)


@promise("SCH-3.out")
def test_a_signed_webhook_tells_of_a_question_and_of_how_it_ended_with_links_into_the_page(
    house: LivingHome, project: Path, hook: Receiver
) -> None:
    house.cli("secret", "add", "signing", stdin=SIGNING)
    added = house.cli("notify", "add", "hook", "--webhook", hook.url, "--secret", "signing")
    assert added.returncode == 0, added.stderr
    tried = house.cli("notify", "test", "hook")
    assert tried.returncode == 0, tried.stdout + tried.stderr
    id = house.give(f"{GOAL} and write them to toc.md", project)
    house.until(lambda: len(hook.taken) == 2, "the question to be told", last=hook)
    house.finish(id)
    house.until(lambda: len(hook.taken) == 3, "the end to be told", last=hook)
    page = house.client().address
    base = f"http://{page.name}.localhost:{page.port}"
    test, question, ended = (one["data"] for one in hook.taken)
    assert (test["kind"], question["kind"], ended["kind"]) == ("test", "question", "ended")
    assert re.fullmatch(re.escape(base) + r"/approvals/a_[0-9a-f]{16}", question["link"])
    assert ended["link"] == f"{base}/objectives/{id}" and GOAL in ended["title"]
    assert not hook.refused and len(set(hook.ids)) == 3
    house.until(lambda: row_of(house, "hook")["waiting"] == 0, "that to be recorded")
    assert SIGNING not in json.dumps(house.events())


@pytest.mark.long
@promise("SCH-3.out")
def test_mail_tells_the_same_on_a_server_of_this_computer(house: LivingHome, project: Path) -> None:
    with mailbox() as box:
        mail = (
            "--mail",
            "ada@example.com",
            "--mail",
            "bob@example.com",
            "--host",
            "localhost",
            "--port",
            str(box.port),
        )
        added = house.cli("notify", "add", "mail", *mail, "--security", "none", "--from", "stead@example.com")
        assert added.returncode == 0, added.stderr
        id = house.give(GOAL, project)
        house.finish(id)
        house.until(lambda: len(box.mails) == 1, "the mail", last=row_of(house, "mail"))
    (mail_,) = box.mails
    assert box.envelopes == [("stead@example.com", ("ada@example.com", "bob@example.com"))]
    assert GOAL in mail_["subject"] and mail_["auto-submitted"] == "auto-generated"
    assert f"/objectives/{id}" in mail_.get_content()


# -- receivers that fail ----------------------------------------------------------------------------------------------


class Clocked:
    """A home whose clock a test moves on."""

    def __init__(self, tmp_path: Path, env: dict[str, str] | None = None) -> None:
        self._clock = tmp_path / "clock"
        set_clock(self._clock, 0)
        env = {"CLOCK": str(self._clock), **(env or {})}
        self.house = LivingHome(tmp_path / "clocked", env, "tests.flows.clocked_daemon", forked=True)
        self.house.start()
        self._caps = 10**6

    def set(self, ms: float) -> None:
        """So far ahead of the host's clock."""
        set_clock(self._clock, int(ms))

    def ahead(self, ms: float) -> None:
        """The same; something happens then, so that it is noticed."""
        self.set(ms)
        self._caps += 1
        self.house.post("/cap", {"daily": {"tokens": self._caps, "usd_micros": "unlimited"}})


@pytest.fixture
def clocked(tmp_path: Path) -> Iterator[Clocked]:
    made = Clocked(tmp_path)
    try:
        yield made
    finally:
        made.house.stop()


@promise("SCH-3.out")
def test_what_a_receiver_refuses_or_garbles_comes_again_in_order_under_the_same_id_when_it_wants_it(
    clocked: Clocked, project: Path, hook: Receiver
) -> None:
    house = clocked.house
    add_hook(house, hook, kinds=["ended"])
    hook.answers = [
        (429, {"retry-after": "3000"}),
        "garbage",
        (500, {}),
        (302, {"location": "http://evil.example.com/"}),
    ]
    first = house.give(GOAL, project, title="first")
    house.finish(first)
    house.until(lambda: row_of(house, "hook")["tries"] == 1, "the first failure")
    row = row_of(house, "hook")
    assert row["error"] == "it answers 429" and row["next_ms"] - row_of(house, "hook")["sent_ms"] > 2_900_000
    second = house.give(GOAL, project, title="second")
    house.finish(second)
    assert "it answers 429" in house.cli("doctor").stdout and "notifications fail" in house.cli("status").stdout
    clocked.ahead(2_000_000)
    assert len(hook.ids) == 1  # not before the time that the receiver named
    for tries, hours in ((2, 1), (3, 2), (4, 3)):
        clocked.ahead(hours * 3_600_000)
        house.until(partial(tried, house, tries), f"try {tries}", last=hook)
    clocked.ahead(4 * 3_600_000)
    house.until(lambda: len(hook.taken) == 2, "both to arrive", last=hook)
    assert ["first" in hook.titles[0], "second" in hook.titles[1]] == [True, True]
    assert len(set(hook.ids[:5])) == 1 and len(set(hook.ids)) == 2
    assert row_of(house, "hook")["tries"] == 0 and "none fails" in house.cli("doctor").stdout
    streams = [event["body"]["type"] for event in house.events("home")]
    assert not [kind for kind in streams if kind.startswith("notify.") and kind != "notify.set"]


@pytest.mark.long
@promise("SCH-3.out")
def test_what_nobody_takes_for_a_day_is_given_up_and_said_so_and_a_receiver_that_is_gone_is_switched_off(
    clocked: Clocked, project: Path, hook: Receiver
) -> None:
    house = clocked.house
    add_hook(house, hook)
    hook.always = (503, {})
    house.finish(house.give(GOAL, project))
    house.until(lambda: row_of(house, "hook")["tries"] == 1, "the first failure")
    clocked.ahead(86_400_000)
    house.until(lambda: row_of(house, "hook")["lost"] == 1, "it to be given up")
    assert "it answers 503" in house.cli("doctor").stdout and "failing" in house.cli("notify").stdout
    hook.always = (410, {})
    house.finish(house.give(GOAL, project))
    house.until(lambda: not row_of(house, "hook")["on"], "it to be switched off")
    assert row_of(house, "hook")["why"] == "it answers 410"
    hook.always = None
    assert house.cli("notify", "on", "hook").returncode == 0
    house.finish(house.give(GOAL, project, title="after"))
    house.until(lambda: hook.taken != [], "what happens from then on to be told")
    assert [title for title in hook.titles if "after" not in title] == []


@promise("SCH-3.out")
def test_a_power_cut_between_sending_and_recording_tells_the_same_again_under_the_same_id_and_nothing_else_twice(
    house: LivingHome, project: Path, hook: Receiver
) -> None:
    add_hook(house, hook, kinds=["ended"])
    hook.answers = [(204, {}), "silence"]
    house.finish(house.give(GOAL, project, title="before"))
    house.until(lambda: len(hook.taken) == 1, "the first to arrive")
    house.finish(house.give(GOAL, project, title="cut off"))
    house.until(lambda: len(hook.ids) == 2, "the second to be on its way")
    house.kill()
    house.start()
    house.until(lambda: len(hook.taken) == 2, "it to come again")
    assert hook.ids[1] == hook.ids[2] and len(hook.ids) == 3 and "cut off" in hook.titles[1]
    house.finish(house.give(GOAL, project, title="later"))
    house.kill()  # whether it was seen by then or not
    house.start()
    house.until(lambda: any("later" in title for title in hook.titles), "what happened before the cut to be told")
    assert [title.partition(": ")[2] for title in dict(zip(hook.ids[3:], hook.titles[2:], strict=False)).values()] == [
        "later"
    ]


@promise("SCH-3.out")
def test_what_comes_in_quiet_hours_comes_together_at_their_end_and_questions_come_at_once_where_that_was_chosen(
    clocked: Clocked, project: Path, hook: Receiver
) -> None:
    house = clocked.house
    now = datetime.now(UTC)
    quiet = {"quiet_from": f"{now - timedelta(hours=1):%H:%M}", "quiet_to": f"{now + timedelta(hours=3):%H:%M}"}
    add_hook(house, hook, zone="UTC", urgent=True, **quiet)
    for title in ("one", "two"):
        house.finish(house.give(GOAL, project, title=title))
    asking = house.give(f"{GOAL} and write them to toc.md", project, title="three")
    house.until(lambda: len(hook.taken) == 1, "the question to be told")
    assert hook.titles == ["Waits for you: three"]
    house.finish(asking)
    house.until(lambda: row_of(house, "hook")["waiting"] == 3, "three to wait", last=row_of(house, "hook"))
    clocked.ahead(4 * 3_600_000)
    house.until(lambda: len(hook.taken) == 2, "the digest", last=row_of(house, "hook"))
    digest = hook.taken[1]["data"]
    assert (digest["kind"], digest["title"], len(digest["lines"])) == ("digest", "3 things happened", 3)
    assert [title in line for title, line in zip(("one", "two", "three"), digest["lines"], strict=True)] == [True] * 3


@pytest.mark.long
@promise("SCH-3.out")
def test_a_question_that_was_answered_meanwhile_is_not_told_any_more(
    clocked: Clocked, project: Path, hook: Receiver
) -> None:
    house = clocked.house
    add_hook(house, hook, kinds=["question"], digest=f"{datetime.now(UTC) + timedelta(hours=2):%H:%M}", zone="UTC")
    house.finish(house.give(f"{GOAL} and write them to toc.md", project))
    house.until(lambda: row_of(house, "hook")["waiting"] == 1, "it to wait")
    clocked.ahead(3 * 3_600_000)
    house.until(lambda: row_of(house, "hook")["waiting"] == 0, "it to be settled")
    assert hook.ids == []


# -- mail and desktop -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("security", ["tls", pytest.param("starttls", marks=pytest.mark.long)])
@promise("SCH-3.out")
def test_mail_goes_over_tls_to_the_host_of_that_name_alone_with_the_password_of_the_vault(
    tmp_path: Path, security: str
) -> None:
    tls, certificate = make_certificate(tmp_path, "mail.example.com")
    with mailbox(tls, starttls=security == "starttls") as box:
        env = {"FETCH_PORT": str(box.port), "FETCH_TRUST": str(certificate)}
        house = LivingHome(tmp_path / "home", env, "tests.flows.loopback_daemon", forked=True)
        house.start()
        try:
            house.post("/secrets", {"name": "mail", "value": "an invented password"})
            to: Json = {"type": "mail", "to": ["ada@example.com"], "sender": "stead@example.com", "port": box.port}
            to |= {"security": security, "user": "ada", "secret": "mail", "host": "mail.example.com"}
            house.post("/notifications", {"name": "mail", "via": to})
            assert house.post("/notifications/mail/test") == {"name": "mail", "ok": True, "text": "it was taken"}
            house.post("/notifications", {"name": "other", "via": {**to, "host": "other.example.com"}})
            fails = house.post("/notifications/other/test")
            assert not fails["ok"] and "certificate" in fails["text"].lower(), fails
            box.refusals["ada@example.com"] = "550 no such mailbox\x1b[31m"
            fails = house.post("/notifications/mail/test")
            assert (fails["ok"], fails["text"]) == (False, "it answers 550: no such mailbox [31m"), fails
            house.post("/secrets", {"name": "mail", "value": "another password", "replace": True})
            assert "535" in house.post("/notifications/mail/test")["text"]
        finally:
            house.stop()
    assert len(box.mails) == 1 and "an invented password" not in str(box.mails[0])


HOSTILE = "Pears\r\nBcc: eve@example.com\r\n\r\nHello\x1b[2J\x07\u202eevil\u200b"


@promise("SCH-3.out")
def test_a_hostile_title_adds_no_header_no_recipient_and_no_control_sequence(house: LivingHome, project: Path) -> None:
    with mailbox() as box:
        via: Json = {"type": "mail", "to": ["ada@example.com"], "sender": "stead@example.com", "host": "127.0.0.1"}
        house.post("/notifications", {"name": "mail", "via": {**via, "port": box.port, "security": "none"}})
        house.finish(house.give(f"{GOAL}\n{'x' * 900_000}", project, title=HOSTILE))
        house.until(lambda: len(box.mails) == 1, "the mail", last=row_of(house, "mail"))
    (sent,) = box.mails
    assert sent["bcc"] is None and box.envelopes[0][1] == ("ada@example.com",)
    assert "Pears Bcc: eve@example.com" in sent["subject"] and len(sent["subject"]) < 300
    assert not re.search(
        r"[\x00-\x09\x0b-\x1f\x7f\u202e\u200b]", sent["subject"] + sent.get_content().replace("\r\n", "\n")
    )
    assert len(bytes(sent)) < 3000


@pytest.mark.long
@promise("SCH-3.out")
def test_the_desktop_is_said_by_its_own_program_with_texts_that_are_no_options_and_no_markup(
    tmp_path: Path, project: Path
) -> None:
    bin, got = tmp_path / "bin", tmp_path / "got"
    bin.mkdir()
    program = bin / "notify-send"
    program.write_text(f'#!/bin/sh\nprintf "%s\\0" "$@" >> {got}\nenv > {got}.env\n')
    program.chmod(0o755)
    env = {
        "ACME_KEY": "an invented key",
        "PATH": f"{bin}:{os.environ['PATH']}",
        "DBUS_SESSION_BUS_ADDRESS": f"unix:path={tmp_path}/bus",
    }
    house = LivingHome(tmp_path / "home", env, forked=True)
    house.start()
    try:
        assert house.cli("notify", "add", "desk", "--desktop").returncode == 0
        house.finish(house.give(GOAL, project, title="--help <b>&"))
        house.until(lambda: row_of(house, "desk")["sent_ms"] > 0, "the desktop to be told", last=row_of(house, "desk"))
        app, urgency, end, title, text = got.read_text().split("\0")[:5]
        assert (app, urgency, end) == ("--app-name=Stead", "--urgency=normal", "--")
        assert "an invented key" not in Path(f"{got}.env").read_text()
        assert title.endswith(": --help <b>&") and "/objectives/" in text
        program.write_text("#!/bin/sh\necho no server >&2; exit 1\n")
        assert house.post("/notifications/desk/test")["text"] == "notify-send failed: no server"
    finally:
        house.stop()


# -- targets ----------------------------------------------------------------------------------------------------------


@promise("SCH-3.out")
def test_targets_that_cannot_be_are_refused_and_private_places_are_reached_only_by_their_own_name(
    house: LivingHome, hook: Receiver
) -> None:
    add_hook(house, hook)
    house.post("/secrets", {"name": "short", "value": "whsec_dG9vIHNob3J0"})
    hooks = {"url": hook.url, "secret": "signing"}
    mail: Json = {"type": "mail", "to": ["ada@example.com"], "sender": "a@example.com", "host": "mail.example.com"}
    for via, said in (
        ({**hooks, "secret": "none"}, "no secret"),
        ({**hooks, "secret": "short"}, "signs nothing"),
        ({**hooks, "url": "http://169.254.169.254/latest"}, "private network"),
        ({**hooks, "url": "http://ada:secret@example.com/"}, "user name"),
        ({**hooks, "url": "https://example.com:22/"}, "port 22"),
        ({**mail, "security": "none"}, "without TLS"),
        ({**mail, "to": ["ada@example.com\r\nBcc: eve@example.com"]}, "no mail address"),
        ({**mail, "to": []}, "1 to 5"),
        ({**mail, "user": "ada"}, "together"),
        ({"type": "push", "service": "push.example.com"}, "adds itself"),
    ):
        with pytest.raises(ApiError, match=re.escape(said)):
            house.post("/notifications", {"name": "odd", "via": {"type": "webhook", **via}})
    for more, said in (
        ({"quiet_from": "22:00"}, "quiet hours"),
        ({"digest": "25:00"}, "no time of day"),
        ({"kinds": []}, "say what is sent"),
        ({"zone": "Mars/Olympus"}, "no time zone"),
        ({"name": "Odd"}, "cannot be"),
    ):
        with pytest.raises(ApiError, match=re.escape(said)):
            house.post("/notifications", {"name": "odd", "via": {"type": "webhook", **hooks}, **more})
    assert [row["target"]["name"] for row in house.get("/notifications")["items"]] == ["hook"]
    off = house.cli("notify", "off", "hook", "--json")
    assert off.returncode == 0 and " off " in house.cli("notify", "list").stdout
    assert house.cli("notify", "remove", "hook", "--yes").returncode == 0
    assert house.cli("notify", "test", "hook").returncode == 2
    assert "notified nowhere" in house.cli("notify").stdout


# -- a browser --------------------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def push_service(tls: ssl.SSLContext) -> AsyncIterator[PushService]:
    there = PushService()
    async with serve(there.answer, tls=tls) as port:
        there.endpoint = f"https://push.example.com:{port}/send/an-invented-capability"
        there.port = port
        yield there


@promise("SCH-3.out")
def test_a_browser_that_subscribed_is_told_what_it_alone_can_read_until_it_is_gone(
    tmp_path: Path, project: Path
) -> None:
    tls, certificate = make_certificate(tmp_path, "push.example.com")
    with in_thread(push_service(tls)) as service:
        env = {"FETCH_PORT": str(service.port), "FETCH_TRUST": str(certificate)}
        house = LivingHome(tmp_path / "home", env, "tests.flows.loopback_daemon", forked=True)
        house.start()
        try:
            service.application_key = house.get("/push-key")["key"]
            assert house.get("/push-key")["key"] == service.application_key
            given = service.subscription
            for wrong in ({"auth": "AAAA"}, {"p256dh": "AAAA"}, {"endpoint": "https://127.0.0.1:1/x"}, {"auth": "ü"}):
                with pytest.raises(ApiError):
                    house.post("/notifications/push", {"name": "phone", **given, **wrong})
            house.post("/notifications/push", {"name": "phone", **given})
            house.post("/notifications", {"name": "phone", "via": {"type": "push"}, "kinds": ["ended"]})
            id = house.give(GOAL, project, title="pears")
            house.finish(id)
            house.until(lambda: len(service.taken) == 1, "the browser to be told", last=service)
            (told,) = service.taken
            assert told["title"].endswith(": pears") and told["link"].endswith(f"/objectives/{id}")
            assert row_of(house, "phone")["target"]["via"] == {"type": "push", "service": "push.example.com"}
            assert "an-invented-capability" not in json.dumps(house.events())
            service.answers = [404]
            house.finish(house.give(GOAL, project))
            house.until(lambda: not row_of(house, "phone")["on"], "the target to be switched off")
            assert house.cli("notify", "remove", "phone", "--yes").returncode == 0
        finally:
            house.stop()
    assert service.faults == []
