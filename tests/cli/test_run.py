"""``run`` and ``watch`` without a terminal, against a server: what is printed, and with which code it ends."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from stead.cli.spending import DEFAULT_BUDGET
from stead.cli.text_input import LIMIT_BYTES
from stead.domain import commands
from stead.domain.events import Budget, ModelRef, ObjectiveRetried, SessionPaused
from stead.domain.policies import Profile
from tests.cli import scripts
from tests.cli.conftest import Cli
from tests.cli.simulator import Run, Simulator

Serve = Callable[..., Simulator]


def only_run(api: Simulator) -> Run:
    api.wait_for(lambda: bool(api.runs))
    (run,) = api.runs.values()
    return run


def only_approval(api: Simulator) -> str:
    api.wait_for(lambda: bool(api.approvals))
    (approval,) = api.approvals
    return approval


def has_opened(api: Simulator, count: int) -> bool:
    return api.streams_opened >= count


def allow_everything(run: Run) -> None:
    scripts.reply(run, 1, "", ("shell", {"command": "make test\nmake lint"}))
    scripts.start(run, "call_1_0", "shell", {"command": "make test\nmake lint"})
    scripts.finish(run, "call_1_0", "shell", "".join(f"line {number}\n" for number in range(20)))
    run.end("unverified", "done", "All is built.\nTwice.")


def test_a_goal_that_is_reached_ends_with_0_and_every_step_is_one_line(cli: Cli, serve: Serve) -> None:
    serve(allow_everything)
    done = cli("run", "build it", "--constraint", "touch nothing else")
    assert done.code == 0, done.err
    assert done.err == ""
    lines = done.out.splitlines()
    assert lines[0].endswith(": build it")
    assert lines[1] == f"  in {cli.directory}, with rehearsal/rehearsal (no AI), budget 400,000 tokens, $5.00"
    assert lines[2] == "  keep: touch nothing else (only asked of the model)"
    assert lines[3] == "> shell make test make lint  ok, 12 ms  [620 tokens, $0.0015]"
    assert lines[4:10] == ["    | … 15 lines before", *(f"    | line {number}" for number in range(15, 20))]
    assert lines[10:12] == ["unverified", "  on record: nothing was changed, run, sent or delegated"]
    assert lines[12:14] == ["  All is built.", "  Twice."]
    assert lines[14].startswith("  1 model request, 620 of 400,000 tokens, $0.0015 of $5.00, ")


def test_a_goal_that_is_not_reached_ends_with_1_and_how_to_try_again(cli: Cli, serve: Serve) -> None:
    api = serve(lambda run: run.end("failed", "budget", "The tokens are used up."))
    done = cli("run", "too much")
    assert done.code == 1
    assert (
        "failed (budget)\n  on record: nothing was changed, run, sent or delegated\n  The tokens are used up."
        in done.out
    )
    assert f"try again: stead retry {only_run(api).id}" in done.out


def test_without_a_terminal_a_question_ends_with_3_and_says_how_to_answer(cli: Cli, serve: Serve) -> None:
    api = serve(scripts.summary)
    done = cli("run", "summarise")
    approval, run = only_approval(api), only_run(api)
    assert done.code == 3
    assert "plan\n  1. Read README.md (doing)\n  2. Write SUMMARY.md\n" in done.out
    assert "I will read the file first.\n> read README.md  ok, 12 ms  [620 tokens, $0.0015]\n" in done.out
    assert f"write asks: {approval}, risk medium\n" in done.out
    assert "  path       SUMMARY.md\n" in done.out
    assert f"  directory  {cli.directory}\n" in done.out
    assert f"{len(scripts.CONTENT)} bytes, 31 lines; it begins" in done.out
    assert "    | - heading 10\n" in done.out
    assert "heading 11" not in done.out
    assert f"stead approve {approval}" in done.out
    assert f"stead deny {approval}" in done.out
    assert f"stead watch {run.id}" in done.out
    assert run.status == "waiting"


def test_an_approved_objective_is_watched_from_its_start_to_its_end(cli: Cli, serve: Serve) -> None:
    api = serve(scripts.summary)
    assert cli("run", "summarise").code == 3
    run = only_run(api)
    unread = cli("approve", run.id)
    assert unread.code == 3 and "nobody has read it yet" in unread.err, "it never shows and answers in one step"
    assert [command for command in api.commands if isinstance(command, commands.Decide)] == []
    approved = cli(*unread.err.rpartition("next: stead ")[2].split())
    assert approved.code == 0
    assert "heading 29" in approved.out, "an answer shows everything that it allows"
    assert approved.out.endswith(f"Allowed, once.\nwatch it go on: stead watch {run.id}\n")
    watched = cli("watch", run.id[:6])
    assert watched.code == 0
    assert "allowed write SUMMARY.md (answered from cli)\n> write SUMMARY.md  ok" in watched.out
    assert "SUMMARY.md has the headings.\nunverified\n" in watched.out
    assert "  SUMMARY.md has 31 lines.\n" in watched.out
    (decision,) = [command for command in api.commands if isinstance(command, commands.Decide)]
    assert decision.digest == api.approvals[decision.approval].digest


def test_a_refusal_carries_its_reason_and_the_objective_goes_on_without(cli: Cli, serve: Serve) -> None:
    api = serve(scripts.summary)
    assert cli("run", "summarise").code == 3
    denied = cli("deny", only_approval(api)[2:8], "--reason", "not in this folder")
    assert denied.code == 0
    assert "Refused." in denied.out
    watched = cli("watch", only_run(api).id)
    assert watched.code == 1
    assert "refused write SUMMARY.md (answered from cli): not in this folder" in watched.out
    assert "> write SUMMARY.md  denied, asked because: " in watched.out


def test_wait_blocks_until_somebody_else_answers(cli: Cli, serve: Serve) -> None:
    api = serve(scripts.summary)
    with cli.running("run", "summarise", "--wait") as process:
        approval = only_approval(api)
        assert cli("approve", approval, "--digest", api.approvals[approval].digest, "--session").code == 0
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "unverified" in out


def test_a_second_answer_is_refused_and_names_the_first(cli: Cli, serve: Serve) -> None:
    api = serve(scripts.summary)
    assert cli("run", "summarise").code == 3
    approval = only_approval(api)
    assert cli("approve", approval, "--digest", api.approvals[approval].digest).code == 0
    again = cli("approve", approval)
    assert again.code == 2
    assert f"error: {approval} is no longer pending: given" in again.err


def test_detached_it_runs_on_and_says_how_to_watch(cli: Cli, serve: Serve) -> None:
    api = serve(scripts.summary)
    done = cli("run", "summarise", "--detach")
    assert done.code == 0
    run = only_run(api)
    assert done.out == (
        f"{run.id} runs in the background.\nwatch it:  stead watch {run.id}\nstop it:   stead stop {run.id}\n"
    )


def test_json_is_one_object_a_line_and_ends_with_the_result(cli: Cli, serve: Serve) -> None:
    api = serve(allow_everything)
    done = cli("run", "build it", "--json")
    assert done.code == 0
    first, *events, result = done.rows
    assert first == {"type": "started", "id": only_run(api).id}
    assert [event["body"]["type"] for event in events] == [event["body"]["type"] for event in api.events]
    assert result["type"] == "result"
    assert (result["status"], result["exit_code"], result["approvals"]) == ("unverified", 0, [])


def test_json_ends_with_the_pending_approval(cli: Cli, serve: Serve) -> None:
    api = serve(scripts.summary)
    done = cli("run", "summarise", "--json")
    assert done.code == 3
    result = done.rows[-1]
    assert (result["status"], result["exit_code"]) == ("waiting", 3)
    assert [row["id"] for row in result["approvals"]] == [only_approval(api)]


def test_every_option_reaches_the_daemon_as_it_was_meant(cli: Cli, api: Simulator, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    options = ["--dir", str(tmp_path / "link"), "--title", "T", "--constraint", "a b", "--constraint", "c"]
    options += ["--budget-tokens", "12,000", "--budget-usd", "1.25", "--allow", "write", "--allow", "edit,glob,grep"]
    options += ["--tools", "read", "--model", "acme/m-1", "--model", "router/lab/m-2", "--profile", "readonly"]
    assert cli("run", *options, "do it").code == 0  # the goal last: no option may take it for a value of its own
    assert api.commands[0] == commands.OpenSession(
        goal="do it",
        directory=str(folder),
        title="T",
        constraints=("a b", "c"),
        tools=("read",),
        allow=("write", "edit", "glob", "grep"),
        chain=(ModelRef("acme", "m-1"), ModelRef("router", "lab/m-2")),
        budget=Budget(12_000, 1_250_000),
        profile=Profile.READONLY,
    )


def test_every_profile_can_be_chosen_and_none_said_is_the_usual_one(cli: Cli, api: Simulator) -> None:
    for words in ([], *(["--profile", profile.value] for profile in Profile)):
        assert cli("run", "a", *words).code == 0
    given = [command.profile for command in api.commands if isinstance(command, commands.OpenSession)]
    assert given == [commands.OpenSession("/").profile, *Profile]


def test_a_budget_of_one_figure_keeps_the_default_of_the_other(cli: Cli, api: Simulator) -> None:
    assert {
        "tokens": commands.DEFAULT_BUDGET.tokens,
        "usd_micros": commands.DEFAULT_BUDGET.usd_micros,
    } == DEFAULT_BUDGET
    assert cli("run", "a", "--budget-tokens", "1000").code == 0
    assert cli("run", "a", "--budget-usd", "unlimited").code == 0
    budgets = [command.budget for command in api.commands if isinstance(command, commands.OpenSession)]
    assert budgets == [Budget(1000, 5_000_000), Budget(400_000, "unlimited")]


def test_a_goal_from_standard_input_is_read_whole(cli: Cli, api: Simulator) -> None:
    assert cli("run", "-", typed="first line\nsecond ä line\n").code == 0
    (command,) = api.commands
    assert isinstance(command, commands.OpenSession)
    assert command.goal == "first line\nsecond ä line\n"


@pytest.mark.parametrize(
    ("words", "cause", "next_step"),
    [
        (["x", "--budget-tokens", "0"], "'0' is not a positive number of tokens", "--budget-tokens 100000"),
        (["x", "--budget-tokens=-5"], "'-5' is not a positive number", "--budget-tokens"),
        (["x", "--budget-tokens", "many"], "'many' is not a positive number", "--budget-tokens"),
        (["x", "--budget-tokens", "9" * 40], "is not a positive number", "--budget-tokens"),
        (["x", "--budget-usd", "0"], "'0' is not a positive sum", "--budget-usd"),
        (["x", "--budget-usd=-1"], "'-1' is not a positive sum", "--budget-usd"),
        (["x", "--budget-usd", "nan"], "'nan' is not a positive sum", "--budget-usd"),
        (["x", "--budget-usd", "1e400"], "'1e400' is not a positive sum", "--budget-usd"),
        (["x", "--budget-usd", "0.0000001"], "is not a positive sum", "--budget-usd"),
        (["x", "--dir", "/no/such/folder"], "there is no directory '/no/such/folder'", "--dir DIR"),
        (["x", "--dir", "/etc/passwd"], "'/etc/passwd' is not a directory", "--dir DIR"),
        (["x", "--model", "acme"], "'acme' is not PROVIDER/MODEL", "stead providers list"),
        (["  "], "the goal is empty", "say what"),
        (["x", "--profile", "lax"], "invalid choice: 'lax'", "stead run --help"),
        (["x", "--detach", "--wait"], "not allowed with argument", "stead run --help"),
        ([], "required: GOAL", "stead run --help"),
        (["x", "--bogus"], "unknown options: --bogus", "stead run --help"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(
    cli: Cli, words: list[str], cause: str, next_step: str
) -> None:
    done = cli("run", *words)
    assert done.code == 2
    error, following = done.err.splitlines()
    assert error.startswith("error: ")
    assert cause in error
    assert following.startswith("next: ")
    assert next_step in following
    assert not cli.home.root.exists()


def test_a_goal_of_one_megabyte_is_refused_from_standard_input_too(cli: Cli) -> None:
    done = cli("run", "-", typed="ä" * (LIMIT_BYTES // 2))
    assert done.code == 2
    assert "the goal has 1 MB or more" in done.err


def test_what_the_daemon_refuses_is_shown_with_cause_and_next_step(cli: Cli, api: Simulator) -> None:
    done = cli("watch", "s_0123456789abcdef")
    assert done.code == 2
    assert done.err == "error: there is no objective 's_0123456789abcdef'\nnext: see: stead objectives --all\n"


def test_ctrl_c_leaves_the_objective_running_and_says_so(cli: Cli, serve: Serve) -> None:
    api = serve(scripts.summary)
    with cli.running("run", "summarise", "--wait") as process:
        only_approval(api)
        api.wait_for(api.watching)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    run = only_run(api)
    assert process.returncode == 130
    assert f"{run.id} goes on" in err
    assert f"stead watch {run.id}" in err
    assert f"stead stop {run.id}" in err
    assert "Traceback" not in err
    assert run.status == "waiting"


def test_a_broken_line_loses_nothing_of_what_is_watched(cli: Cli, serve: Serve) -> None:
    api = serve(scripts.summary)
    with cli.running("run", "summarise", "--wait", "--json") as process:
        approval = only_approval(api)
        for opened in range(1, 4):
            api.wait_for(partial(has_opened, api, opened))
            api.drop_streams()
        api.wait_for(partial(has_opened, api, 4))
        assert cli("approve", approval, "--digest", api.approvals[approval].digest).code == 0
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    seqs = [row["seq"] for row in map(json.loads, out.splitlines()) if "seq" in row]
    assert seqs == list(range(1, len(api.events) + 1))


def test_a_daemon_that_is_away_for_a_moment_is_asked_again(cli: Cli, serve: Serve) -> None:
    def fall_silent(run: Run) -> None:
        run.api.wait_for(run.api.watching)
        run.api.hang_ups = 2  # the request, and its second try
        run.end("unverified", "done", "All is well.")

    api = serve(fall_silent)
    done = cli("run", "x")
    assert done.code == 0, done.err
    assert done.out.count("All is well.") == 1
    assert api.hang_ups == 0


def test_an_objective_that_runs_again_is_watched_past_its_first_end(cli: Cli, serve: Serve) -> None:
    def again(run: Run) -> None:
        run.end("failed", "budget")
        run.happen(ObjectiveRetried(Budget(1000, 1000)))
        run.ask("call_9_0", "write", {"path": "a", "content": "b"})

    api = serve(again)
    api.begin(commands.OpenSession(str(cli.directory), goal="g"))
    approval = only_approval(api)
    watched = cli("watch", only_run(api).id)
    assert watched.code == 3
    assert "failed (budget)\n  on record: nothing was changed, run, sent or delegated\nruns again\n" in watched.out
    assert approval in watched.out


def test_a_paused_objective_ends_the_watch_of_a_script_with_3(cli: Cli, serve: Serve) -> None:
    serve(lambda run: run.happen(SessionPaused("the daily cap is reached")))
    done = cli("run", "x")
    assert done.code == 3
    assert "paused: the daily cap is reached\nIt is paused. Go on with: stead resume s_" in done.out


def test_nothing_that_a_model_a_tool_or_a_file_says_reaches_the_terminal_as_a_command(cli: Cli, serve: Serve) -> None:
    api = serve(scripts.hostile)
    shown = cli("run", scripts.HOSTILE.replace("\x00", ""), TERM="xterm-256color")
    assert shown.code == 3
    outputs = [shown.out, cli("approvals").out, cli("approvals", only_approval(api)).out]
    digest = api.approvals[only_approval(api)].digest
    outputs += [cli("approve", only_approval(api), "--digest", digest).out, cli("watch", only_run(api).id).out]
    outputs += [cli("objectives").out, cli("show", only_run(api).id).out, cli("journal", "show", only_run(api).id).out]
    for text in outputs:
        bad = {character for character in text if character != "\n" and not character.isprintable()}
        assert bad == set(), text
    assert "\\x1b[2J" in shown.out, "a question shows what would run, escapes and all"
    assert "gnp.exe" in shown.out
    assert "\\u202e" in shown.out


def test_limits_of_requests_and_of_time_are_given_as_options(cli: Cli, api: Simulator) -> None:
    assert cli("run", "x", "--iterations", "200", "--wall", "8h", "--detach").code == 0
    (opened,) = (command for command in api.commands if isinstance(command, commands.OpenSession))
    assert (opened.limits.iterations, opened.limits.wall_s) == (200, 8 * 3600)
    assert cli("run", "x", "--iterations", "0").err.endswith("next: --iterations 1\n")
    assert "--wall '5 years' is not a time of work" in cli("run", "x", "--wall", "5 years").err
