"""A person at a real terminal (a pty) who works in a session: what they see, say, and are asked.

What a terminal makes of the bytes is pyte's word: every row that scrolled away, and the screen.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from stead.domain import commands
from stead.domain.ids import CallKey
from stead.domain.work_rows import Watcher
from tests.cli.conftest import Cli
from tests.cli.scripts import finish, replied, reply, requested, start
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


def idle(terminal: Terminal) -> list[str]:
    """Wait until the session rests and the person's line is empty; gives what stands above them."""

    def rests(rows: list[str]) -> bool:
        return len(rows) > 1 and rows[-1] == PROMPT.rstrip() and "[idle]" in "".join(rows[-8:-1])

    rows = terminal.until_rows(rests, "[idle] and an empty line")
    status = max(at for at, row in enumerate(rows) if row.startswith("[idle]"))
    return rows[:status]


def leave(terminal: Terminal) -> None:
    terminal.type("\x04")
    terminal.shows("You left; ")
    assert terminal.end() == 0


def wrapped(lines: list[str], columns: int) -> list[str]:
    """The rows that a terminal makes of lines of ASCII."""
    return [line[at : at + columns].rstrip() for line in lines for at in range(0, max(1, len(line)), columns)]


def transcript(sitting: Sitting, cli: Cli, approval: str) -> list[str]:
    """Everything that a chat about one edit leaves on a terminal."""
    return [
        f"{sitting.id}: Notes",
        f"  in {cli.directory}, with rehearsal/rehearsal (no AI), budget 20,000,000 tokens, $5.00",
        "(Enter sends, Esc interrupts, / has commands, Ctrl-D leaves; /help says more)",
        "you> tidy up",
        "plan",
        "  1. Read notes.txt (done)",
        "  2. Write 2 for two (doing)",
        "I will look first.",
        "> read notes.txt  ok, 12 ms  [620 tokens, $0.0015]",
        "Now the edit.",
        "",
        f"edit asks: {approval}, risk medium",
        "  path       notes.txt",
        f"  directory  {cli.directory}",
        "  why        writes are asked about once in a session (rule write.session)",
        "  session    a yes also allows every call of this tool in this session",
        "  expires    in 6 d 23 h",
        "  change     9 bytes, 2 lines",
        "    | - two",
        "    | + 2",
        "edit, risk medium: notes.txt",
        f"{QUESTION}y",
        "allowed edit notes.txt (answered from cli)",
        "> edit notes.txt  ok, 12 ms  [1,240 tokens, $0.0030]",
        "  ~ notes.txt  +1 -1  [call_2_0]",
        "    @@ -1,2 +1,2 @@",
        "     one",
        "    -two",
        "    +2",
        "    ",
        f"checkpoint {sitting.checkpoints[0].id} before turn 1 (1,204 files, 48.2 MB, 3 changed, 2 paths left out)"
        " in 420 ms",
        "notes.txt says 2 now.",
        "turn 1 done, 1 path changed",
        "  ~ notes.txt  +1 -1",
        "  1,860 tokens, $0.0045 so far",
        f"You left; {sitting.id} goes on. Back again: stead chat --resume {sitting.id}",
    ]


@pytest.mark.parametrize("columns", [20, 80, 200])
@pytest.mark.parametrize("colour", [True, False])
def test_what_a_terminal_holds_is_what_was_written_and_nothing_else(
    cli: Cli, serve: Serve, columns: int, colour: bool
) -> None:
    """Neither the person's line nor the status leaves a trace, and no row is written twice, at whatever width."""
    api = serve(turn=tidy)
    sitting = seat(api, cli)
    with at_terminal(
        cli, "chat", "--resume", sitting.id[:8], columns=columns, rows=12, NO_COLOR="" if colour else "1"
    ) as terminal:
        idle(terminal)
        terminal.type("tidy up\r")
        terminal.shows(QUESTION)
        terminal.type("y\n")
        terminal.shows("so far")
        idle(terminal)
        leave(terminal)
    (approval,) = api.approvals
    assert terminal.rows == wrapped(transcript(sitting, cli, approval), columns)
    assert ("\x1b[31m" in terminal.seen) == colour, "only styles depend on it"
    assert said(api) == [("tidy up", False)]


def test_a_plain_terminal_gets_lines_and_nothing_is_drawn(cli: Cli, serve: Serve) -> None:
    api = serve(turn=tidy)
    sitting = seat(api, cli)
    with at_terminal(cli, "chat", "--resume", sitting.id, "--plain") as terminal:
        terminal.until(PROMPT)
        terminal.type("tidy up\n")
        terminal.until(QUESTION)
        terminal.type("y\n")
        after = terminal.until(PROMPT)
        terminal.type("\x04")
        terminal.until("You left; ")
        assert terminal.end() == 0
    assert "\x1b" not in terminal.seen
    assert "    -two\n    +2\n" in after
    assert after.endswith("[idle] 1,860 tokens, $0.0045, context 7 %\nyou> ")
    assert said(api) == [("tidy up", False)]


@pytest.mark.parametrize("extra", [{"TERM": "dumb"}, {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0"}])
def test_a_terminal_of_another_time_shows_all_that_it_can(cli: Cli, serve: Serve, extra: dict[str, str]) -> None:
    def speaks(sitting: Sitting, text: str) -> None:
        reply(sitting, sitting.turns, "Grüße \u2713 \U0001f600 done")
        sitting.rest("done", "")

    api = serve(turn=speaks)
    sitting = seat(api, cli)
    with at_terminal(cli, "chat", "--resume", sitting.id, env=extra) as terminal:
        terminal.shows("[idle]")
        terminal.type("hello\r" if "LANG" in extra else "hello\n")
        terminal.shows(" done")
        terminal.type("\x04")
        terminal.shows("You left; ")
        assert terminal.end() == 0
    assert "Traceback" not in terminal.seen


def test_without_a_terminal_there_is_no_chat_and_what_there_is_is_said(cli: Cli, api: Simulator) -> None:
    refused = cli("chat")
    assert (refused.code, "there is no terminal to work at" in refused.err) == (3, True)
    assert "stead run GOAL" in refused.err
    assert not api.commands


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
        terminal.type("and then t")
        terminal.shows("you> and then t")
        slow.go.release()
        terminal.shows("> shell make")
        terminal.type("est it, bitte: ä")
        terminal.shows("you> and then test it, bitte: ä")
        terminal.type("\x7f\r")
        terminal.shows("(queued: it is read before the next model request; /now before it interrupts)")
        slow.go.release()
        terminal.shows("2 heard")
        idle(terminal)
        leave(terminal)
    assert said(api) == [("build it", False), ("and then test it, bitte:", False)]
    assert terminal.rows.count("you> and then test it, bitte:") == 1


@pytest.mark.parametrize("key", ["/now\r", "\x1b"])
def test_now_cuts_in_and_alone_it_stops_as_escape_does(cli: Cli, serve: Serve, key: str) -> None:
    slow = Slow()
    api = serve(turn=slow)
    sitting = seat(api, cli)
    with at_terminal(cli, "session", "attach", sitting.id, NO_COLOR="1") as terminal:
        idle(terminal)
        terminal.type("build it\r")
        api.wait_for(lambda: sitting.status != "idle")
        terminal.type("/now not that\r")
        terminal.shows("you> /now not that")
        api.wait_for(lambda: len(said(api)) == 2)
        terminal.type(key)
        terminal.shows("stopped from cli")
        terminal.shows("[paused]")
        leave(terminal)
    slow.go.release(2)
    assert said(api) == [("build it", False), ("not that", True)]
    assert api.commands.count(commands.Stop(sitting.id)) == 1
    assert "queued" not in "\n".join(terminal.rows)


def test_the_arguments_are_edited_line_by_line_before_the_call_runs(cli: Cli, serve: Serve) -> None:
    api = serve(turn=tidy)
    sitting = seat(api, cli)
    with at_terminal(cli, "session", "attach", sitting.id, NO_COLOR="1") as terminal:
        idle(terminal)
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
        idle(terminal)
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
        idle(terminal)
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
        idle(terminal)
        terminal.type("tidy up\r")
        terminal.shows(QUESTION)
        terminal.type("q\n")
        terminal.shows("Left pending. Answer it later with: stead approve a_")
        assert cli("approve", (row := next(iter(api.approvals.values()))).id, "--digest", row.digest).code == 0
        terminal.shows("allowed edit notes.txt")
        idle(terminal)
        leave(terminal)


def test_a_question_waits_for_the_end_of_the_line_that_is_being_typed(cli: Cli, serve: Serve) -> None:
    slow = Slow()

    def turn(sitting: Sitting, text: str) -> None:
        slow._step()
        tidy(sitting, text)

    api = serve(turn=turn)
    sitting = seat(api, cli)
    with at_terminal(cli, "chat", "--resume", sitting.id, NO_COLOR="1") as terminal:
        idle(terminal)
        terminal.type("tidy up\r")
        terminal.shows("[pending]")
        terminal.type("wait, y")
        terminal.shows("you> wait, y")
        slow.go.release()
        terminal.shows("[a question waits for your line to be empty]")
        assert QUESTION.strip() not in "\n".join(terminal.rows)
        terminal.type("\x15")
        terminal.shows(QUESTION)
        terminal.type("n\n\n")
        terminal.shows("turn 1 done")
        idle(terminal)
        leave(terminal)
    assert said(api) == [("tidy up", False)]


def test_ctrl_c_leaves_the_session_going_on_and_the_terminal_as_it_was(cli: Cli, serve: Serve) -> None:
    slow = Slow()
    api = serve(turn=slow)
    sitting = seat(api, cli)
    with at_terminal(cli, "session", "attach", sitting.id, NO_COLOR="1") as terminal:
        before = terminal.mode()
        idle(terminal)
        during = terminal.mode()
        terminal.type("build it\r")
        api.wait_for(lambda: sitting.status == "running")
        terminal.type("half a li")
        terminal.shows("half a li")
        terminal.type("\x03")
        terminal.shows(f"You left; {sitting.id} goes on.")
        terminal.shows(f"watch again: stead chat --resume {sitting.id}")
        assert terminal.end() == 130
        after = terminal.mode()
    slow.go.release(2)
    assert before == after != during
    assert said(api) == [("build it", False)]


def test_commands_of_the_session_work_at_the_prompt(cli: Cli, serve: Serve) -> None:
    api = serve(turn=quiet)
    sitting = seat(api, cli)
    with at_terminal(cli, "session", "attach", sitting.id, NO_COLOR="1", rows=40) as terminal:
        idle(terminal)
        for typed, told in (
            ("/checkpoint --note 'so far'", "as you asked: so far"),
            ("/call cancel 9_9", "not done: there is no open call 'call_9_9'"),
            ("/nonsense", "there is no command /nonsense"),
            ("/help", "/now TEXT"),
            ("/cost", "0 of 20,000,000 tokens"),
            ("/model", "rehearsal/rehearsal (no AI)."),
            ("/undo", "there is no change to undo"),
            (" /etc is a folder", "You said: /etc is a folder"),
        ):
            terminal.type(f"{typed}\r")
            terminal.shows(told)
            idle(terminal)
        terminal.type("/quit\r")
        terminal.shows("You left")
        assert terminal.end() == 0
    assert said(api) == [("/etc is a folder", False)]


def test_the_last_change_is_undone_by_a_word(cli: Cli, serve: Serve) -> None:
    api = serve(turn=tidy)
    sitting = seat(api, cli)
    with at_terminal(cli, "chat", "--resume", sitting.id, NO_COLOR="1") as terminal:
        idle(terminal)
        terminal.type("tidy up\r")
        terminal.shows(QUESTION)
        terminal.type("y\n")
        terminal.shows("so far")
        terminal.type("/undo\r")
        terminal.shows("notes.txt is as it was before call_2_0. Back again: /undo call_2_0 --again")
        idle(terminal)
        leave(terminal)
    assert commands.UndoEdit(sitting.id, CallKey("call_2_0"), "notes.txt") in api.commands


def test_several_lines_are_one_message_typed_or_pasted_and_controls_are_cleaned(cli: Cli, serve: Serve) -> None:
    api = serve(turn=quiet)
    sitting = seat(api, cli)
    with at_terminal(cli, "session", "attach", sitting.id) as terminal:
        idle(terminal)
        terminal.type("\x1b[200~one\rtwo\x1b[31m\x1b]0;title\x07\x9b2J\u202e\x1b[201~")
        terminal.shows("you> one")
        terminal.shows("two")
        assert said(api) == []
        terminal.type("\\\rthree\x1b\rfour\nfive\x1b[D\x1b[C\x17six\r")
        terminal.shows("You said:")
        idle(terminal)
        leave(terminal)
    assert said(api) == [("one\ntwo\nthree\nfour\nsix", False)]


def test_what_a_model_and_its_tools_print_moves_no_cursor(cli: Cli, serve: Serve) -> None:
    hostile = "\x1b[2J\x1b[H\x1b]0;owned\x07\x1b]52;c;aGk=\x07\x9b31m\u202eevil\x08\x08\rover"

    def turn(sitting: Sitting, text: str) -> None:
        reply(sitting, 1, f"Look: {hostile} {PROMPT}", ("shell", {"command": f"make {hostile}"}))
        start(sitting, "call_1_0", "shell", {"command": f"make {hostile}"})
        for offset, piece in enumerate((hostile, "\x1b", "[2J", "\n")):
            sitting.stream(
                {"type": "output.delta", "session": sitting.id, "key": "call_1_0", "offset": offset, "text": piece}
            )
        finish(sitting, "call_1_0", "shell", f"{hostile}\nlast line\n")
        sitting.rest("done", hostile)

    api = serve(turn=turn)
    sitting = seat(api, cli)
    with at_terminal(cli, "chat", "--resume", sitting.id, columns=200, NO_COLOR="1") as terminal:
        idle(terminal)
        terminal.type("go\r")
        terminal.shows("so far")
        idle(terminal)
        leave(terminal)
    assert terminal.rows[0] == f"{sitting.id}: Notes", "nothing was cleared"
    assert any(row.startswith("Look: evil") for row in terminal.rows)
    for sequence in ("\x1b[2J", "\x1b[H", "\x1b]0", "\x1b]52", "\x9b", "\u202e", "\x08"):
        assert sequence not in terminal.seen


def test_the_terminal_may_change_its_size_while_a_reply_streams(cli: Cli, serve: Serve) -> None:
    go = threading.Semaphore(0)
    words = [f"word{number:03d} " for number in range(120)]

    def turn(sitting: Sitting, text: str) -> None:
        sitting.happen(requested())
        whole = "".join(words) + "\nThe end."
        for at in range(0, len(whole), 200):
            if at in (200, 600):
                assert go.acquire(timeout=WAIT_S)
            sitting.stream(
                {"type": "text.delta", "session": sitting.id, "number": 1, "offset": at, "text": whole[at : at + 200]}
            )
        sitting.happen(replied(sitting, 1, whole), actor="model")
        sitting.rest("done", whole)

    api = serve(turn=turn)
    sitting = seat(api, cli)
    with at_terminal(cli, "chat", "--resume", sitting.id, columns=80, rows=20, NO_COLOR="1") as terminal:
        idle(terminal)
        terminal.type("go\r")
        terminal.shows("word020")
        terminal.resize(20, 100)
        go.release()
        terminal.shows("word070")
        terminal.resize(30, 100)
        go.release()
        terminal.shows("The end.")
        idle(terminal)
        leave(terminal)
    text = "\n".join(terminal.rows)
    assert text.count("word000") == text.count("word119") == text.count("The end.") == 1
    assert text.count(PROMPT) == 1, "the line that was sent, and none of those that were drawn"


def test_markdown_is_styled_and_every_sign_of_it_stays(cli: Cli, serve: Serve) -> None:
    text = "# Title\nUse `make` **now**:\n```sh\nmake # all\n```\nend **open"

    def turn(sitting: Sitting, said: str) -> None:
        reply(sitting, 1, text)
        reply(sitting, 2, "# Next")
        sitting.rest("done", "# Next")

    api = serve(turn=turn)
    sitting = seat(api, cli)
    with at_terminal(cli, "chat", "--resume", sitting.id) as terminal:
        idle(terminal)
        terminal.type("go\r")
        terminal.shows("# Next")
        idle(terminal)
        leave(terminal)
    assert text in "\n".join(terminal.rows)
    for styled in (
        "\x1b[1m# Title\x1b[0m\n",
        "\x1b[36m`make`\x1b[0m \x1b[1m**now**\x1b[0m:",
        "\x1b[36mmake # all\x1b[0m",
    ):
        assert styled in terminal.seen


def test_who_else_is_there_is_said_when_it_changes(cli: Cli, serve: Serve) -> None:
    api = serve(turn=quiet)
    sitting = seat(api, cli)
    sitting.watchers = [Watcher("web", 1)]
    with at_terminal(cli, "session", "attach", sitting.id, NO_COLOR="1") as terminal:
        terminal.shows("(also here: web)")
        idle(terminal)
        for doors, told in (
            (["cli", "cli", "web"], "(also here: cli, web)"),
            (["cli"], "(nobody else is here any more)"),
        ):
            watchers = [{"door": door, "since_ms": 1} for door in doors]
            sitting.stream({"type": "presence", "session": sitting.id, "watchers": watchers, "count": len(doors)})
            terminal.shows(told)
        leave(terminal)


def test_words_that_cannot_be_sent_stay_in_the_line(cli: Cli, serve: Serve) -> None:
    api = serve(turn=quiet)
    sitting = seat(api, cli)
    with at_terminal(cli, "session", "attach", sitting.id, NO_COLOR="1") as terminal:
        idle(terminal)
        api.sessions.pop(sitting.id)
        terminal.type("hello\r")
        terminal.shows("not done: there is no session")
        terminal.until_rows(lambda rows: rows[-1] == "you> hello", "the words in the line")
        api.sessions[sitting.id] = sitting
        terminal.type("\r")
        terminal.shows("You said: hello")
        idle(terminal)
        leave(terminal)


def test_what_was_said_comes_back_by_the_arrows_and_tab_completes(cli: Cli, serve: Serve) -> None:
    (cli.directory / "notes.txt").write_text("one\n")
    (cli.directory / "evil\x1b[2J.txt").write_text("")
    api = serve(turn=quiet)
    sitting = seat(api, cli)
    for _ in range(2):  # also when the chat is opened again
        with at_terminal(cli, "chat", "--resume", sitting.id, NO_COLOR="1") as terminal:
            idle(terminal)
            if not said(api):
                terminal.type("read @no\t")
                terminal.shows("you> read @notes.txt")
                terminal.type(" now\r")
                terminal.shows("You said: read @notes.txt now")
                idle(terminal)
            terminal.type("\x1b[A")
            terminal.shows("you> read @notes.txt now")
            terminal.type("\x15@ev\t/comp\t")
            terminal.type("\x15/comp\t")
            terminal.shows("you> /compact")
            terminal.type("\x15")
            leave(terminal)
    assert said(api) == [("read @notes.txt now", False)]


@pytest.mark.parametrize("words", [("--continue",), ("session", "attach"), ("chat", "--continue")])
def test_the_last_session_of_a_folder_is_gone_on_with(cli: Cli, api: Simulator, words: tuple[str, ...]) -> None:
    sitting = seat(api, cli)
    with at_terminal(cli, *words) as terminal:
        terminal.shows(sitting.id)
        idle(terminal)
        leave(terminal)


def test_where_a_folder_has_no_session_there_is_none_to_go_on_with(cli: Cli, api: Simulator) -> None:
    with at_terminal(cli, "chat", "--continue") as terminal:
        terminal.shows("there is no session in")
        assert terminal.end() == 2
    assert "--continue takes no command" in cli("--continue", "status").err


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
        idle(terminal)
        leave(terminal)
    (opened,) = (command for command in api.commands if isinstance(command, commands.OpenSession))
    assert opened.directory == str(cli.directory)
    assert cli().out.startswith("usage: stead [options] [COMMAND ...]")


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
