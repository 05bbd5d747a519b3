"""A person at a real terminal (a pty): what they see while they watch, and how they answer."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable

import pytest

from stead.domain import commands
from tests.cli import scripts
from tests.cli.conftest import Cli
from tests.cli.simulator import Run, Simulator
from tests.cli.terminal import at_terminal

Serve = Callable[..., Simulator]
QUESTION = "allow? y yes, once, s for this session, p for this project, n no, v view all, q leave it pending: "


def decisions(api: Simulator) -> list[tuple[str, str]]:
    return [(c.answer, c.reason) for c in api.commands if isinstance(c, commands.Decide)]


def test_a_question_is_answered_inline_and_the_objective_goes_on(cli: Cli, serve: Serve) -> None:
    api = serve(scripts.summary)
    with at_terminal(cli, "run", "summarise", NO_COLOR="1") as terminal:
        before = terminal.until(QUESTION)
        terminal.type("y\n")
        terminal.until("Not all of it was shown; view it first: v and Enter.")
        terminal.until(QUESTION)
        assert decisions(api) == []
        terminal.type("v\n")
        terminal.until(QUESTION)
        terminal.type("y\n")
        after = terminal.until("of $5.00")
        assert terminal.end() == 0
    assert "I will read the file first.\n> read README.md  ok, 12 ms" in before
    assert "path       SUMMARY.md" in before
    assert "risk medium" in before
    assert f"directory  {cli.directory}" in before
    assert "why        writes are asked about once in a session (rule write.session)" in before
    assert "> write SUMMARY.md  ok, 12 ms" in after
    assert "SUMMARY.md has the headings.\nunverified\n" in after
    assert decisions(api) == [("once", "")]
    assert "\x1b" not in terminal.seen


@pytest.mark.parametrize(("key", "answer"), [("s", "session"), ("p", "project"), ("Y", "once")])
def test_each_key_gives_its_answer(cli: Cli, serve: Serve, key: str, answer: str) -> None:
    api = serve(scripts.summary)
    with at_terminal(cli, "run", "summarise") as terminal:
        terminal.until(QUESTION)
        terminal.type("v\n")
        terminal.until(QUESTION)
        terminal.type(f"{key}\n")
        assert terminal.end() == 0
    assert decisions(api) == [(answer, "")]


def test_enter_alone_and_unknown_keys_approve_nothing(cli: Cli, serve: Serve) -> None:
    api = serve(scripts.summary)
    with at_terminal(cli, "run", "summarise") as terminal:
        terminal.until(QUESTION)
        for typed in ("\n", "  \n", "ok\n", "yy\n", "\x1b[A\n"):
            terminal.type(typed)
            terminal.until("Type one of y, s, p, n, v, q and Enter.")
            terminal.until(QUESTION)
            assert decisions(api) == []
        terminal.type("q\n")
        assert terminal.end() == 3
    assert decisions(api) == []


def test_keys_pressed_before_the_question_stands_there_do_not_count(cli: Cli, serve: Serve) -> None:
    def slow(run: Run) -> None:
        run.api.wait_for(run.api.watching)
        scripts.reply(run, 1, "thinking aloud")
        run.api.wait_for(lambda: getattr(run.api, "typed", False))
        run.ask("call_1_0", "shell", {"command": "make"})
        run.end("unverified")

    api = serve(slow)
    with at_terminal(cli, "run", "summarise") as terminal:
        terminal.until("thinking aloud")
        terminal.type("y\ny\n")
        terminal.until("y\ny\n")  # the terminal has taken the keys
        with api.changed:
            vars(api)["typed"] = True
            api.changed.notify_all()
        terminal.until("allow? ")
        terminal.type("n\n")
        terminal.until("reason for the model (Enter for none): ")
        terminal.type("no\n")
        assert terminal.end() == 0
    assert decisions(api) == [("deny", "no")]


def test_a_refusal_asks_for_its_reason(cli: Cli, serve: Serve) -> None:
    api = serve(scripts.summary)
    with at_terminal(cli, "run", "summarise") as terminal:
        terminal.until(QUESTION)
        terminal.type("n\n")
        terminal.until("reason for the model (Enter for none): ")
        terminal.type("not in this folder\n")
        assert terminal.end() == 1
    assert decisions(api) == [("deny", "not in this folder")]


def test_what_the_card_leaves_out_is_shown_on_demand(cli: Cli, serve: Serve) -> None:
    serve(scripts.summary)
    with at_terminal(cli, "run", "summarise") as terminal:
        assert "heading 29" not in terminal.until(QUESTION)
        terminal.type("v\n")
        assert "    | - heading 29" in terminal.until(QUESTION)
        terminal.type("\x04")
        assert terminal.end() == 3
    assert "Left pending. Answer it later with: stead approve a_" in terminal.seen
    assert "risk" not in terminal.seen.partition("Left pending.")[2], "the question is not printed again"


def test_a_question_answered_elsewhere_closes_here(cli: Cli, serve: Serve) -> None:
    api = serve(scripts.summary)
    with at_terminal(cli, "run", "summarise") as terminal:
        terminal.until(QUESTION)
        (approval,) = api.approvals
        assert cli("approve", approval, "--digest", api.approvals[approval].digest).code == 0
        terminal.until("That question is settled")
        assert terminal.end() == 0
    assert decisions(api) == [("once", "")]


def test_a_call_that_is_confirmed_every_time_cannot_be_granted_ahead(cli: Cli, serve: Serve) -> None:
    api = serve(
        lambda run: run.end("unverified", run.ask("call_1_0", "send", {"to": "ada@example.com"}, level="confirm"))
    )
    with at_terminal(cli, "run", "tell Ada") as terminal:
        terminal.until("allow? y yes, once, n no, q leave it pending: ")
        terminal.type("s\n")
        terminal.until("Type one of y, n, q and Enter.")
        terminal.type("y\n")
        assert terminal.end() == 0
    assert decisions(api) == [("once", "")]


def test_a_whole_command_is_shown_however_long_it_is(cli: Cli, serve: Serve) -> None:
    command = "".join(f"step {number} && " for number in range(400)) + "rm -rf build"
    serve(lambda run: run.end("unverified", run.ask("call_1_0", "shell", {"command": command}, risk="high")))
    with at_terminal(cli, "run", "clean", NO_COLOR="1") as terminal:
        shown = terminal.until("allow? ")
        terminal.type("q\n")
        assert terminal.end() == 3
    assert command in shown
    assert "risk high" in shown


def test_replies_and_output_are_streamed_as_they_come(cli: Cli, serve: Serve) -> None:
    def stream(run: Run) -> None:
        run.api.wait_for(run.api.watching)
        run.stream({"type": "text.delta", "session": run.id, "number": 1, "offset": 0, "text": "Let me "})
        run.api.wait_for(lambda: vars(run.api).get("step", 0) >= 1)
        scripts.reply(run, 1, "Let me see.", ("shell", {"command": "make"}))
        scripts.start(run, "call_1_0", "shell", {"command": "make"})
        delta = {"type": "output.delta", "session": run.id, "key": "call_1_0", "offset": 0}
        run.stream(delta | {"text": "compiling a\ncompi"})
        run.api.wait_for(lambda: vars(run.api).get("step", 0) >= 2)
        run.stream(delta | {"text": "ling b\n    indented\nlast"})
        scripts.finish(run, "call_1_0", "shell", "compiling a\ncompiling b\n    indented\nlast\n[exit code 0]\n")
        run.end("unverified")

    def go_on(api: Simulator, step: int) -> None:
        with api.changed:
            vars(api)["step"] = step
            api.changed.notify_all()

    api = serve(stream)
    with at_terminal(cli, "run", "build", NO_COLOR="1") as terminal:
        terminal.until("Let me ")
        go_on(api, 1)
        terminal.until("see.\n> shell make\n    | compiling a\n")
        go_on(api, 2)
        terminal.until("    | compiling b\n    |     indented\n> shell make  ok, 12 ms")
        assert terminal.end() == 0
    assert terminal.seen.count("| compiling") == 2, "what was shown as it came is not shown again"
    assert "    | last\n    | [exit code 0]\n" in terminal.seen, "a last line without an end is shown, too"


def test_the_last_line_of_a_diff_that_streams_by_is_shown(cli: Cli, serve: Serve) -> None:
    def stream(run: Run) -> None:
        run.api.wait_for(run.api.watching)
        call = ("write", {"path": "one.txt", "text": "one line only\n"})
        scripts.reply(run, 1, "", call)
        scripts.start(run, "call_1_0", *call)
        delta = {"type": "output.delta", "session": run.id, "key": "call_1_0", "offset": 0}
        run.stream(delta | {"text": "@@ -1,0 +1,1 @@\n+one line only"})
        run.api.wait_for(lambda: bool(vars(run.api).get("shown")))
        scripts.finish(run, "call_1_0", "write", "Wrote one.txt.")
        run.end("unverified")

    api = serve(stream)
    with at_terminal(cli, "run", "build", NO_COLOR="1") as terminal:
        terminal.until("| @@ -1,0 +1,1 @@\n")
        with api.changed:
            vars(api)["shown"] = True
            api.changed.notify_all()
        assert terminal.end() == 0
    assert "    | @@ -1,0 +1,1 @@\n    | +one line only\n> write one.txt  ok" in terminal.seen


def test_a_lost_piece_of_a_reply_is_made_up_for_by_the_whole(cli: Cli, serve: Serve) -> None:
    def stream(run: Run) -> None:
        run.api.wait_for(run.api.watching)
        delta = {"type": "text.delta", "session": run.id, "number": 1}
        run.stream(delta | {"offset": 0, "text": "One, "})
        run.stream(delta | {"offset": 10, "text": "three"})
        run.happen(scripts.replied(run, 1, "One, two, three."))
        run.stream(delta | {"offset": 0, "text": "One, "})
        run.end("unverified")

    serve(stream)
    with at_terminal(cli, "run", "count", NO_COLOR="1") as terminal:
        assert terminal.end() == 0
    assert "\nOne, two, three.\nunverified\n" in terminal.seen
    assert terminal.seen.count("One, ") == 1, "nothing is said twice"


def test_nothing_that_streams_by_reaches_the_terminal_as_a_command(cli: Cli, serve: Serve) -> None:
    def stream(run: Run) -> None:
        run.api.wait_for(run.api.watching)
        scripts.hostile(run)

    serve(stream)
    with at_terminal(cli, "run", "beware") as terminal:
        terminal.until("allow? ")
        terminal.type("y\n")
        assert terminal.end() == 1
    left = re.sub("\x1b\\[[0-9]?[0-9]?m", "", terminal.seen)  # our own colours: one figure each
    assert {character for character in left if character != "\n" and not character.isprintable()} == set()
    assert "\x1b[31mred\x1b[0m" not in terminal.seen, "not even theirs"


def test_ctrl_c_at_a_question_leaves_everything_as_it_is(cli: Cli, serve: Serve) -> None:
    api = serve(scripts.summary)
    with at_terminal(cli, "run", "summarise") as terminal:
        terminal.until(QUESTION)
        terminal.type("\x03")
        assert terminal.end() == 130
    assert "goes on" in terminal.seen
    assert decisions(api) == []


def test_colour_is_for_terminals_that_want_it(cli: Cli, serve: Serve) -> None:
    serve(lambda run: run.end("unverified"))
    colour = re.compile("\x1b\\[[0-9;]*m")
    with at_terminal(cli, "run", "a") as terminal:
        assert terminal.end() == 0
    assert "\x1b[33munverified\x1b[0m" in terminal.seen
    assert "\x1b" not in colour.sub("", terminal.seen), "nothing but colour"
    for words, extra in ((["--plain"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"})):
        with at_terminal(cli, *words, "objectives", env=extra) as terminal:
            assert terminal.end() == 0
        assert "\x1b" not in terminal.seen


def test_a_key_is_typed_at_a_prompt_that_does_not_show_it(cli: Cli, api: Simulator) -> None:
    with at_terminal(cli, "providers", "set-key", "rehearsal") as terminal:
        terminal.until("key of rehearsal (it is not shown): ")
        terminal.type("sk-very-secret\n")
        assert terminal.end() == 0
    assert api.commands == [commands.SetProviderKey("rehearsal", "sk-very-secret")]
    assert "very-secret" not in terminal.seen


def test_deleting_asks_first(cli: Cli, serve: Serve) -> None:
    api = serve(lambda run: run.end("unverified"))
    assert cli("run", "a goal to forget").code == 0
    (run,) = api.runs.values()
    for typed, code in (("\n", 2), ("delete\n", 0)):
        with at_terminal(cli, "delete", run.id, "--now") as terminal:
            terminal.until("type delete to go on: ")
            terminal.type(typed)
            assert terminal.end() == code
    assert [type(command) for command in api.commands[1:]] == [commands.Delete]


def test_a_terminal_that_goes_away_ends_the_watch_and_nothing_else(cli: Cli, serve: Serve) -> None:
    api = serve(scripts.summary)
    with at_terminal(cli, "run", "summarise") as terminal:
        terminal.until(QUESTION)
        os.kill(terminal._process.pid, signal.SIGHUP)
        assert terminal.end() == -signal.SIGHUP
    (run,) = api.runs.values()
    assert run.status == "waiting"
    assert decisions(api) == []
