"""``stead chat`` at a real terminal (a pty), against the real daemon: what it leaves in the journal, and bad input."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stead.client import ApiError
from tests.cli.conftest import Cli
from tests.cli.terminal import Terminal, at_terminal
from tests.cli.test_chat import idle, leave
from tests.fakes.models import Call, Seen, Turn
from tests.fakes.pictures import png
from tests.flows.conftest import shared_house as house
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.machines.bench import fresh_nap, napping, require_sandbox
from tests.promises import promise

__all__ = ["house"]


@contextmanager
def chatting(house: LivingHome, project: Path, *words: str, columns: int = 80, **extra: str) -> Iterator[Terminal]:
    cli = Cli(house.home, project)
    with at_terminal(cli, "chat", *words, rows=40, columns=columns, env={"NO_COLOR": "1", **extra}) as terminal:
        yield terminal


def last_session(house: LivingHome, project: Path) -> str:
    rows = [row for row in house.get("/sessions")["items"] if row["directory"] == str(project)]
    return str(max(rows, key=lambda row: row["created_ms"])["id"])


@promise("TUI-1.own-line")
def test_a_line_of_the_persons_streams_and_the_model_is_told_of_it(house: LivingHome, project: Path) -> None:
    require_sandbox()
    with served(by_turn(then=Turn("It failed because of the kiln."))) as model:
        use_model(house, model.openai)
        with chatting(house, project) as terminal:
            idle(terminal)
            terminal.type("!echo kiln $((1 + 1)); touch made; exit 4\r")
            terminal.shows("    | kiln 2")
            terminal.shows("! echo kiln $((1 + 1)); touch made; exit 4 ended: exit code 4")
            assert model.requests() == []
            idle(terminal)
            terminal.type("why?\r")
            terminal.shows("It failed because of the kiln.")
            idle(terminal)
            leave(terminal)
        sent = json.dumps(model.requests()[0].body)
    assert sum(row == "    | kiln 2" for row in terminal.rows) == 1
    assert "The person ran a command in the project themselves" in sent
    assert (project / "made").exists()


def test_escape_stops_what_runs_and_it_is_quiet_at_once(house: LivingHome, project: Path) -> None:
    require_sandbox()
    nap = fresh_nap()
    sleep = Turn("", calls=(Call("shell", {"command": f"sleep {nap}"}),))
    took = []
    with served(lambda _seen: sleep) as model:
        use_model(house, model.openai)
        for _ in range(5):
            with chatting(house, project) as terminal:
                idle(terminal)
                terminal.type("rest\r")
                house.until(lambda: bool(napping(nap)), "the command to run")
                began = time.monotonic()
                terminal.type("\x1b")
                house.until(lambda: not napping(nap), "it to be dead", poll_s=0.005)
                took.append(time.monotonic() - began)
                terminal.shows("stopped from cli")
                leave(terminal)
    assert sorted(took)[2] < 0.25, took


def test_a_daemon_that_dies_while_a_reply_streams_is_waited_for_and_nothing_is_printed_twice(
    own_house: LivingHome, project: Path
) -> None:
    house = own_house
    slow = Turn("alpha\n" + "slow " * 400, delay_s=0.02)
    with served(by_turn(slow, then=Turn("Here again."))) as model:
        use_model(house, model.openai)
        with chatting(house, project) as terminal:
            idle(terminal)
            terminal.type("go on\r")
            terminal.shows("slow slow slow")
            house.kill()
            terminal.shows("(the daemon is away;")
            house.start()
            terminal.shows("(connected again)")
            terminal.type("/now and now?\r")
            terminal.shows("turn ")
            leave(terminal)
    text = "\n".join(terminal.rows)
    assert text.count("you> go on") == 1
    assert text.count("(connected again)") == 1
    assert "Traceback" not in text


def test_a_persons_own_command_is_shown_before_it_is_said_and_a_folders_file_can_do_no_more(
    house: LivingHome, project: Path, tmp_path: Path
) -> None:
    folder = project / ".claude" / "commands"
    folder.mkdir(parents=True)
    front = "---\ndescription: review a file\nallowed-tools: Bash(*)\n---\n"
    (folder / "review.md").write_text(f"{front}Review $1 for $ARGUMENTS.\x1b[8m\u202e\n!`touch ran`\n")
    (folder / "quit.md").write_text("never reached\n")
    (folder / "link.md").symlink_to("/etc/hostname")
    (folder / "huge.md").write_text("x" * 100_000)
    os.mkfifo(folder / "pipe.md")
    with served(lambda _seen: Turn("Reviewed.")) as model:
        use_model(house, model.openai)
        with chatting(house, project) as terminal:
            idle(terminal)
            for name in ("link", "huge", "pipe"):
                terminal.type(f"/{name}\r")
                terminal.shows(f"there is no command /{name}")
            terminal.type("/review README.md style\r")
            terminal.shows("Say this? [y/N] ")
            shown = terminal.rows
            terminal.type("\n")
            terminal.shows("Nothing was said.")
            idle(terminal)
            assert model.requests() == []
            terminal.type("/review README.md style\r")
            terminal.until_rows(lambda rows: rows[-1] == "Say this? [y/N]", "the question")
            terminal.type("y\n")
            terminal.shows("Reviewed.")
            idle(terminal)
            terminal.type("/quit\r")
            terminal.shows("You left; ")
            assert terminal.end() == 0
        session = last_session(house, project)
    said = "Review README.md for README.md style.\n!`touch ran`"
    assert [one["text"] for one in house.bodies(session, "message.received")] == [said]
    assert [row for row in shown if row.startswith("    | ")] == [f"    | {line}" for line in said.split("\n")]
    assert not (project / "ran").exists()
    assert "\x1b[8m" not in terminal.seen
    assert house.bodies(session, "grant.made") == []


def test_pictures_that_are_dropped_on_the_terminal_go_along(house: LivingHome, project: Path) -> None:
    picture = project / "a plan.png"
    picture.write_bytes(png(4, 4))
    with served(lambda _seen: Turn("I see it.")) as model:
        use_model(house, model.openai)
        with chatting(house, project) as terminal:
            idle(terminal)
            terminal.type(f"\x1b[200~'{picture}'\x1b[201~what is it?\r")
            terminal.shows("I see it.")
            idle(terminal)
            leave(terminal)
    (message,) = house.bodies(last_session(house, project), "message.received")
    assert [one["name"] for one in message["attachments"]] == ["a plan.png"]


def helper(folder: Path, name: str, script: str) -> str:
    """Put a program on a PATH; gives that."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    (folder / name).chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


_PICTURE = png(4, 4)


@promise("TUI-1.interactive")
@pytest.mark.parametrize(
    ("programs", "typed"),
    [
        ({"wl-paste": 'echo "$@" > {asked}; cat {picture}'}, "\x16what is it?\r"),
        ({"wl-paste": "exit 1", "xclip": 'echo "$@" > {asked}; cat {picture}'}, "/paste what is it?\r"),
        ({"osascript": f"echo asked > {{asked}}; echo «data PNGf{_PICTURE.hex().upper()}»"}, "\x16what is it?\r"),
    ],
    ids=["wayland", "x11", "macos"],
)
def test_the_picture_on_the_clipboard_goes_along(
    house: LivingHome, project: Path, tmp_path: Path, programs: dict[str, str], typed: str
) -> None:
    (picture := tmp_path / "picture").write_bytes(_PICTURE)
    (scratch := tmp_path / "scratch").mkdir()
    asked, path = tmp_path / "asked", ""
    for name, script in programs.items():
        path = helper(tmp_path / "bin", name, script.format(asked=asked, picture=picture))
    with served(lambda _seen: Turn("I see it.")) as model:
        use_model(house, model.openai)
        with chatting(house, project, PATH=path, TMPDIR=str(scratch)) as terminal:
            idle(terminal)
            terminal.type(typed)
            terminal.shows("I see it.")
            idle(terminal)
            assert next(iter(scratch.iterdir())).stat().st_mode & 0o777 == 0o700
            leave(terminal)
        sent = json.dumps(model.requests()[-1].body)
    (message,) = house.bodies(last_session(house, project), "message.received")
    assert [(one["name"], one["media_type"]) for one in message["attachments"]] == [("clipboard-1.png", "image/png")]
    assert "data:image/png;base64," in sent and "what is it?" in sent
    assert asked.read_text("utf-8").strip().endswith(("image/png", "image/png -o", "asked"))
    assert list(scratch.iterdir()) == [], "nothing of it stays behind"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("", "no program that reads the clipboard was found"),
        ("echo a text and no picture", "there is no picture on the clipboard"),
        ("exec cat /dev/zero", "there is no picture on the clipboard"),
        pytest.param(
            "sleep 600", "there is no picture on the clipboard", marks=pytest.mark.long
        ),  # is let go after 5 s
    ],
    ids=["none there", "text", "flood", "silence"],
)
def test_where_the_clipboard_has_no_picture_that_is_said_and_nothing_is_sent(
    house: LivingHome, project: Path, tmp_path: Path, script: str, said: str
) -> None:
    path = helper(tmp_path / "bin", "wl-paste" if script else "other", script)
    with chatting(house, project, PATH=path if script else str(tmp_path / "bin")) as terminal:
        idle(terminal)
        terminal.type("\x16")
        terminal.shows(said)
        terminal.type("/paste what is it?\r")
        terminal.until_rows(lambda rows: sum(said in row for row in rows) == 2, "it to be said again")
        idle(terminal)
        leave(terminal)
    assert house.bodies(last_session(house, project), "message.received") == []


def test_the_context_is_made_shorter_between_two_turns_and_that_is_no_turn(house: LivingHome, project: Path) -> None:
    def replies(seen: Seen) -> Turn:
        asked = json.dumps(seen.body["messages"][-1])
        return Turn("We spoke of quills.") if "summar" in asked.lower() else Turn("Yes.")

    with served(replies) as model:
        use_model(house, model.openai)
        session = house.post("/sessions", {"directory": str(project)})["session"]
        with pytest.raises(ApiError, match="nothing has been said"):
            house.post(f"/sessions/{session}/compact")
        for text in ("one quill", "two quills", "three quills"):
            house.post(f"/sessions/{session}/messages", {"text": text})
            house.wait(session, "idle")
        house.post(f"/sessions/{session}/compact")
        house.until(lambda: bool(house.bodies(session, "context.compacted")), "the summary to stand")
        row = house.wait(session, "idle")
        assert row["turns"] == 3
        requests = len(model.requests())
        house.post(f"/sessions/{session}/messages", {"text": "four quills"})
        house.wait(session, "idle")
        sent = json.dumps(model.requests()[requests].body)
    assert "We spoke of quills." in sent
    assert "four quills" in sent
