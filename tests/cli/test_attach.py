"""A person at a real terminal (a pty) who works in a session: what they see, say, and are asked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from stead.domain import commands
from stead.domain.ids import CallKey
from stead.domain.work_rows import Watcher
from tests.cli.conftest import Cli
from tests.cli.scripts import finish, reply, start
from tests.cli.session_scripts import quiet, tidy
from tests.cli.simulator import WAIT_S, Simulator, Sitting
from tests.cli.terminal import Terminal, at_terminal

Serve = Callable[..., Simulator]
QUESTION = "allow? y yes, once, s for this session, p for this project, n no, e edit it, q leave it pending: "
PROMPT = "you> "


def seat(api: Simulator, cli: Cli) -> Sitting:
    assert cli("session", "new", "--title", "Notes").code == 0
    return next(reversed(api.sessions.values()))


def said(api: Simulator) -> list[tuple[str, bool]]:
    return [(c.text, c.interrupt) for c in api.commands if isinstance(c, commands.SendMessage)]


def leave(terminal: Terminal) -> None:
    terminal.type("\x04")
    terminal.until("You left; ")
    assert terminal.end() == 0


def test_a_person_says_something_answers_the_question_and_sees_the_change(cli: Cli, serve: Serve) -> None:
    api = serve(turn=tidy)
    sitting = seat(api, cli)
    with at_terminal(cli, "session", "attach", sitting.id[:8]) as terminal:
        assert "Notes" in terminal.until(PROMPT)
        terminal.type("tidy up\r")
        before = terminal.until(QUESTION)
        terminal.type("y\n")
        after = terminal.until(PROMPT)
        leave(terminal)
    assert before.startswith("\x1b[0mtidy up\n"), "the echo of the keys, and no second telling of the same words"
    assert "you (from" not in before
    assert "I will look first.\n> \x1b[1mread\x1b[0m notes.txt  \x1b[32mok\x1b[0m, 12 ms" in before
    assert "    \x1b[31m-two\x1b[0m\n    \x1b[32m+2\x1b[0m\n" in after
    assert after.index("ok\x1b[0m, 12 ms") < after.index("+2"), "the change is told when its step is whole"
    assert after.count("+2") == 1, "a change is told by its event, and not by what the tool prints as well"
    assert "turn 1 done, 1 path changed" in after
    assert terminal.seen.count(PROMPT) == 2, "none is left empty above what happens"
    assert said(api) == [("tidy up", False)]


def test_without_colour_nothing_but_words_is_written_above_the_prompt(cli: Cli, serve: Serve) -> None:
    api = serve(turn=quiet)
    sitting = seat(api, cli)
    with at_terminal(cli, "session", "attach", sitting.id, NO_COLOR="1") as terminal:
        terminal.until(PROMPT)
        terminal.type("hello\r")
        told = terminal.until(PROMPT)
        leave(terminal)
    assert told.startswith("hello\nYou said: hello\nturn 1 done\n")
    assert "\x1b" not in told
    assert terminal.seen.count(PROMPT) == 2


class Slow:
    """A turn that goes on until the test says so, piece by piece."""

    def __init__(self) -> None:
        self.go = threading.Semaphore(0)

    def __call__(self, sitting: Sitting, text: str) -> None:
        self._step()
        reply(sitting, 1, "", ("shell", {"command": "make"}))
        start(sitting, "call_1_0", "shell", {"command": "make"})
        self._step()
        finish(sitting, "call_1_0", "shell", "all built")
        reply(sitting, 2, f"{len(sitting.heard)} heard")
        sitting.rest()

    def _step(self) -> None:
        assert self.go.acquire(timeout=WAIT_S)


def test_what_is_typed_while_it_works_stays_whole_and_is_queued(cli: Cli, serve: Serve) -> None:
    slow = Slow()
    api = serve(turn=slow)
    with at_terminal(cli, "session", "new", "-m", "build it", NO_COLOR="1") as terminal:
        terminal.until("Ctrl-C leaves; /help says more)")
        terminal.type("and then t")
        terminal.until("you> and then t")
        slow.go.release()
        api.wait_for(lambda: api.events[-1]["body"]["type"] == "tool.started")
        terminal.type("est it, bitte: ä")
        terminal.until("est it, bitte: ä")
        terminal.type("\x7f\r")
        after = terminal.until("> shell make")
        slow.go.release()
        rest = terminal.until(PROMPT)
        leave(terminal)
    assert "(queued: it is read before the next model request; a ! at the start interrupts)\n" in after
    assert "2 heard" in rest
    assert said(api) == [("build it", False), ("and then test it, bitte:", False)]


def test_an_exclamation_mark_cuts_in_and_alone_it_stops(cli: Cli, serve: Serve) -> None:
    slow = Slow()
    api = serve(turn=slow)
    sitting = seat(api, cli)
    with at_terminal(cli, "session", "attach", sitting.id, NO_COLOR="1") as terminal:
        terminal.until(PROMPT)
        terminal.type("build it\r")
        api.wait_for(lambda: sitting.status == "running")
        terminal.type("! not that\r")
        terminal.until("you> ! not that\n")
        api.wait_for(lambda: len(said(api)) == 2)
        terminal.type("!\r")
        assert "queued" not in terminal.until("stopped from cli")
        terminal.until(PROMPT)
        leave(terminal)
    slow.go.release(2)
    assert said(api) == [("build it", False), ("not that", True)]
    assert commands.Stop(sitting.id) in api.commands


def test_the_arguments_are_edited_line_by_line_before_the_call_runs(cli: Cli, serve: Serve) -> None:
    api = serve(turn=tidy)
    sitting = seat(api, cli)
    with at_terminal(cli, "session", "attach", sitting.id, NO_COLOR="1") as terminal:
        terminal.until(PROMPT)
        terminal.type("tidy up\r")
        terminal.until(QUESTION)
        terminal.type("e\n")
        terminal.until("path [notes.txt]: ")
        terminal.type("\n")
        terminal.until("old [two]: ")
        terminal.type("\n")
        terminal.until("new [2]: ")
        terminal.type("II\n")
        assert "edit runs with other arguments (from cli)" in terminal.until("turn 1 done")
        leave(terminal)
    edit = next(command for command in api.commands if isinstance(command, commands.EditCall))
    assert edit == commands.EditCall(
        sitting.id, CallKey("call_2_0"), '{"path": "notes.txt", "old": "two", "new": "II"}'
    )


def test_the_arguments_are_edited_in_the_persons_own_editor(cli: Cli, serve: Serve, tmp_path: Path) -> None:
    api = serve(turn=tidy)
    sitting = seat(api, cli)
    editor = tmp_path / "my editor"
    editor.write_text('#!/bin/sh\nsed -i "s/two/three/" "$1"\n')
    editor.chmod(0o755)
    with at_terminal(cli, "session", "attach", sitting.id, NO_COLOR="1", EDITOR=f"'{editor}'") as terminal:
        terminal.until(PROMPT)
        terminal.type("tidy up\r")
        terminal.until(QUESTION)
        terminal.type("e\n")
        terminal.until("turn 1 done")
        leave(terminal)
    edit = next(command for command in api.commands if isinstance(command, commands.EditCall))
    assert edit.arguments == '{"path": "notes.txt", "old": "three", "new": "2"}'


@pytest.mark.parametrize(
    ("editor", "told"),
    [
        ("false", "the editor 'false' ended with 1; nothing was changed"),
        ("/no/such/editor", "cannot be run"),
        ("true", "Nothing was changed."),
    ],
)
def test_an_editor_that_fails_answers_nothing(cli: Cli, serve: Serve, editor: str, told: str) -> None:
    api = serve(turn=tidy)
    sitting = seat(api, cli)
    with at_terminal(cli, "session", "attach", sitting.id, NO_COLOR="1", EDITOR=editor) as terminal:
        terminal.until(PROMPT)
        terminal.type("tidy up\r")
        terminal.until(QUESTION)
        terminal.type("e\n")
        assert told in terminal.until(QUESTION)
        terminal.type("n\n\n")
        terminal.until("turn 1 done")
        leave(terminal)
    assert not any(isinstance(command, commands.EditCall) for command in api.commands)


def test_a_question_may_be_left_and_the_person_stays(cli: Cli, serve: Serve) -> None:
    api = serve(turn=tidy)
    sitting = seat(api, cli)
    with at_terminal(cli, "session", "attach", sitting.id, NO_COLOR="1") as terminal:
        terminal.until(PROMPT)
        terminal.type("tidy up\r")
        terminal.until(QUESTION)
        terminal.type("q\n")
        terminal.until("Left pending. Answer it later with: stead approve a_")
        assert cli("approve", (row := next(iter(api.approvals.values()))).id, "--digest", row.digest).code == 0
        assert "allowed edit notes.txt" in terminal.until(PROMPT)
        leave(terminal)


def test_ctrl_c_leaves_the_session_going_on_and_the_terminal_as_it_was(cli: Cli, serve: Serve) -> None:
    slow = Slow()
    api = serve(turn=slow)
    sitting = seat(api, cli)
    with at_terminal(cli, "session", "attach", sitting.id, NO_COLOR="1") as terminal:
        terminal.until(PROMPT)
        before = terminal.mode()
        terminal.type("build it\r")
        api.wait_for(lambda: sitting.status == "running")
        terminal.type("half a li")
        terminal.until("half a li")
        terminal.type("\x03")
        terminal.until(f"You left; {sitting.id} goes on.")
        terminal.until(f"watch again: stead session attach {sitting.id}")
        assert terminal.end() == 130
        after = terminal.mode()
    slow.go.release(2)
    assert before != after
    assert said(api) == [("build it", False)]


def test_commands_of_the_session_work_at_the_prompt(cli: Cli, serve: Serve) -> None:
    api = serve(turn=quiet)
    sitting = seat(api, cli)
    with at_terminal(cli, "session", "attach", sitting.id, NO_COLOR="1") as terminal:
        terminal.until(PROMPT)
        terminal.type("/checkpoint --note 'so far'\r")
        assert "as you asked: so far" in terminal.until(PROMPT)
        terminal.type("/call cancel 9_9\r")
        assert "not done: there is no open call 'call_9_9'" in terminal.until(PROMPT)
        terminal.type("/nonsense\r")
        assert "there is no command /nonsense here" in terminal.until(PROMPT)
        terminal.type("/help\r")
        assert "!WORDS" in terminal.until(PROMPT)
        terminal.type(" /etc is a folder\r")
        terminal.until("You said:")
        terminal.until(PROMPT)
        terminal.type("/quit\r")
        terminal.until("You left")
        assert terminal.end() == 0
    assert said(api) == [("/etc is a folder", False)]


def test_several_lines_that_are_pasted_are_one_message(cli: Cli, serve: Serve) -> None:
    api = serve(turn=quiet)
    sitting = seat(api, cli)
    with at_terminal(cli, "session", "attach", sitting.id) as terminal:
        terminal.until("\x1b[?2004h")
        terminal.until(" ")
        terminal.type("\x1b[200~one\rtwo\x1b[31m\x1b[201~")
        terminal.until("one↵two")
        assert said(api) == []
        terminal.type("\x1b[D\x17three\r")
        terminal.until("You said:")
        terminal.type("\x04")
        assert terminal.end() == 0
    assert said(api) == [("one\nthree", False)]


def test_who_else_is_there_is_said_when_it_changes(cli: Cli, serve: Serve) -> None:
    api = serve(turn=quiet)
    sitting = seat(api, cli)
    sitting.watchers = [Watcher("web", 1)]
    with at_terminal(cli, "session", "attach", sitting.id, NO_COLOR="1") as terminal:
        terminal.until("(also here: web)")
        terminal.until(PROMPT)
        for doors, told in (
            (["cli", "cli", "web"], "(also here: cli, web)"),
            (["cli"], "(nobody else is here any more)"),
        ):
            watchers = [{"door": door, "since_ms": 1} for door in doors]
            sitting.stream({"type": "presence", "session": sitting.id, "watchers": watchers, "count": len(doors)})
            terminal.until(told)
        leave(terminal)


def test_words_that_cannot_be_sent_stay_in_the_line(cli: Cli, serve: Serve) -> None:
    api = serve(turn=quiet)
    sitting = seat(api, cli)
    with at_terminal(cli, "session", "attach", sitting.id, NO_COLOR="1") as terminal:
        terminal.until(PROMPT)
        api.sessions.pop(sitting.id)
        terminal.type("hello\r")
        assert "not sent: there is no session" in terminal.until("you> hello")
        api.sessions[sitting.id] = sitting
        terminal.type("\r")
        terminal.until("You said: hello")
        terminal.until(PROMPT)
        leave(terminal)


def test_going_back_asks_at_a_terminal_first(cli: Cli, serve: Serve) -> None:
    api = serve(turn=quiet)
    sitting = seat(api, cli)
    assert cli("session", "checkpoint", sitting.id).code == 0
    kept = sitting.checkpoints[0].id
    sitting.differences[(kept, "")] = []
    with at_terminal(cli, "session", "restore", sitting.id, kept) as terminal:
        terminal.until("Go back? [y/N] ")
        terminal.type("\n")
        terminal.until("Nothing was changed.")
        assert terminal.end() == 0
    with at_terminal(cli, "session", "restore", sitting.id, kept) as terminal:
        terminal.until("Go back? [y/N] ")
        terminal.type("y\n")
        terminal.until("undo it: stead session restore")
        assert terminal.end() == 0
    assert sum(isinstance(command, commands.RestoreCheckpoint) for command in api.commands) == 1


def test_without_a_command_a_terminal_gets_a_session_in_its_folder_and_a_script_the_help(
    cli: Cli, api: Simulator
) -> None:
    with at_terminal(cli) as terminal:
        terminal.until(PROMPT)
        leave(terminal)
    (opened,) = (command for command in api.commands if isinstance(command, commands.OpenSession))
    assert opened.directory == str(cli.directory)
    assert cli().out.startswith("usage: stead [options] [COMMAND ...]")


@pytest.mark.parametrize("words", [("--continue",), ("session", "attach")])
def test_the_last_session_of_a_folder_is_gone_on_with(cli: Cli, api: Simulator, words: tuple[str, ...]) -> None:
    sitting = seat(api, cli)
    with at_terminal(cli, *words) as terminal:
        assert sitting.id in terminal.until(PROMPT)
        leave(terminal)


def test_where_a_folder_has_no_session_there_is_none_to_go_on_with(cli: Cli, api: Simulator) -> None:
    refused = cli("--continue")
    assert (refused.code, "there is no session in" in refused.err) == (2, True)
    assert "--continue takes no command" in cli("--continue", "status").err


def test_a_table_fits_a_narrow_terminal_and_its_ids_stay_whole(cli: Cli, api: Simulator) -> None:
    sitting = seat(api, cli)
    with at_terminal(cli, "session", "list", COLUMNS="80", NO_COLOR="1") as terminal:
        assert terminal.end() == 0
    assert all(len(line) <= 80 for line in terminal.seen.splitlines())
    assert sitting.id in terminal.seen
    assert "…" in terminal.seen


def test_a_wide_terminal_shows_a_long_title_whole(cli: Cli, api: Simulator) -> None:
    title = "A title that says at some length what is to be done about the kilns"
    assert cli("run", "go", "--title", title, "--detach").code == 0
    with at_terminal(cli, "objectives", COLUMNS="160", NO_COLOR="1") as terminal:
        assert terminal.end() == 0
    assert title in terminal.seen
