"""``stead session``: what each of its commands asks of the daemon, and what a person reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stead.cli import timeline
from stead.cli.output import Output
from stead.cli.spending import SESSION_BUDGET
from stead.cli.timeline import TimelinePrinter
from stead.domain import commands
from stead.domain.events import Budget, CallRetried, ModelRef, ModelRequested, PlanStep, Spend
from stead.domain.ids import ApprovalId, CallKey, CheckpointId, RequestNo
from stead.domain.policies import Profile
from stead.domain.work_rows import CallRow, Watcher
from tests.build import Story, created
from tests.cli.conftest import Cli, Result
from tests.cli.scripts import HOSTILE, replied
from tests.cli.session_api import MARKDOWN, edit_row, take_checkpoint
from tests.cli.session_scripts import ADDED, CHANGE, quiet, stuck, tidy
from tests.cli.simulator import Simulator, Sitting
from tests.timelines import everything, items_of

Serve = Callable[..., Simulator]


def sat_down(api: Simulator, cli: Cli, title: str = "Notes") -> Sitting:
    """A session with one call in its queue, one checkpoint and two changes."""
    assert cli("session", "new", "--title", title).code == 0
    sitting = next(reversed(api.sessions.values()))
    sitting.turns = 1
    arguments = json.dumps({"command": "make"})
    sitting.calls = [
        CallRow(CallKey("call_3_0"), "shell", arguments, "asking", ApprovalId("a_00000000000000aa"), False)
    ]
    take_checkpoint(sitting, why="turn")
    edit_row(sitting, "call_2_0", CHANGE)
    edit_row(sitting, "call_2_1", ADDED)
    sitting.differences = {("", ""): [CHANGE, ADDED], (sitting.checkpoints[0].id, ""): [CHANGE]}
    return sitting


def last(api: Simulator) -> commands.Command:
    return api.commands[-1]


def refused(result: Result, *words: str) -> None:
    assert result.code == 2, result.out + result.err
    for word in words:
        assert word in result.err


def test_a_session_is_opened_in_a_folder_with_every_option_as_it_was_meant(cli: Cli, api: Simulator) -> None:
    options = [
        "--title",
        "T",
        "--model",
        "acme/m-1",
        "--model",
        "lab/a/b",
        "--profile",
        "readonly",
        "--allow",
        "read,edit",
    ]
    options += ["--host", "example.com", "--secret", "shop", "--ignore", "*.log", "--budget-tokens", "1000"]
    done = cli("session", "new", *options, ".")
    assert done.code == 0, done.err
    (sitting,) = api.sessions.values()
    assert last(api) == commands.OpenSession(
        directory=str(cli.directory),
        title="T",
        chain=(ModelRef("acme", "m-1"), ModelRef("lab", "a/b")),
        profile=Profile.READONLY,
        allow=("read", "edit"),
        hosts=("example.com",),
        secrets=("shop",),
        ignore=("*.log",),
        budget=Budget(1000, commands.SESSION_BUDGET.usd_micros),
    )
    assert msgspec.to_builtins(commands.SESSION_BUDGET) == SESSION_BUDGET
    assert done.out.splitlines()[1] == f"work in it:  stead chat --resume {sitting.id}"
    refused(cli("session", "new", "/no/such"), "'/no/such'", "stead session new DIR")


def test_the_command_alone_lists_and_an_id_may_be_its_beginning(cli: Cli, api: Simulator) -> None:
    assert cli("session").out == "No sessions yet. Begin to work in a folder: stead session new DIR\n"
    sitting = sat_down(api, cli)
    for words in (["session"], ["session", "list"], ["session", "list", "--all"]):
        shown = cli(*words).out
        assert shown.startswith("ID  ")
        assert sitting.id in shown
        assert "idle" in shown
    (row,) = cli("session", "list", "--json").rows
    assert (row["id"], row["kind"]) == (sitting.id, "session")
    assert sitting.id in cli("session", "show", sitting.id[2:8]).out
    refused(cli("session", "show", "s_ffffffffffffffff"), "stead session list")
    refused(cli("session", "show", "zzz"), "is not a valid ID")


def test_show_says_where_it_stands(cli: Cli, api: Simulator) -> None:
    sitting = sat_down(api, cli)
    sitting.status, sitting.summary = "idle", "All is tidy.\nReally."
    sitting.plan = (PlanStep("Look", "done"), PlanStep("Tidy"))
    sitting.watchers = [Watcher("web", 1)]
    shown = cli("session", "show", sitting.id).out
    for text in (
        "Notes",
        "idle",
        "turns      1",
        "web",
        "last words\n  All is tidy.",
        "1. done    Look",
        "2. todo    Tidy",
    ):
        assert text in shown
    assert "call_3_0  asking    shell make" in shown
    (whole,) = cli("session", "show", sitting.id, "--json").rows
    assert whole["calls"][0]["key"] == "call_3_0"
    assert whole["watchers"] == [{"door": "web", "since_ms": 1}]


def test_words_are_sent_and_cut_in_only_when_asked_to(cli: Cli, serve: Serve) -> None:
    api = serve(turn=quiet)
    sitting = sat_down(api, cli)
    sent = cli("session", "send", sitting.id[:8], "tidy up")
    assert sent.code == 0
    assert f"stead session attach {sitting.id}" in sent.out
    assert last(api) == commands.SendMessage(sitting.id, "tidy up", False)
    assert cli("session", "send", sitting.id, "-", "--interrupt", typed="stop that\n").code == 0
    assert last(api) == commands.SendMessage(sitting.id, "stop that\n", True)
    refused(cli("session", "send", sitting.id, " "), "the message is empty")


def test_send_and_wait_tells_the_turn_and_ends_with_it(cli: Cli, serve: Serve) -> None:
    api = serve(turn=quiet)
    sitting = sat_down(api, cli)
    api.take_turn(sitting, "an earlier one")
    api.wait_for(lambda: sitting.status == "idle")
    told = cli("session", "send", sitting.id, "hello", "--wait")
    assert told.code == 0, told.err
    assert "You said: hello\n" in told.out
    assert "earlier" not in told.out
    assert "turn 3 done\n" in told.out
    rows = cli("session", "send", sitting.id, "again", "--wait", "--json").rows
    assert rows[0]["body"]["text"] == "again"
    assert (rows[-1]["type"], rows[-1]["turn"], rows[-1]["exit_code"]) == ("result", 4, 0)


def test_words_that_a_turn_ended_without_are_waited_for_into_the_next(cli: Cli, serve: Serve) -> None:
    def late(sitting: Sitting, text: str) -> None:
        sitting.happen(ModelRequested(RequestNo(1), "", 1, 1000, Spend(2000, 0)))
        sitting.api.wait_for(lambda: len(sitting.heard) == 2 and sitting.api.watching())
        sitting.happen(replied(sitting, 1, "The first.", ("read", {})), actor="model")
        sitting.rest()
        sitting.ask("call_2_0", "edit", {"path": "notes.txt"})
        sitting.rest()

    api = serve(turn=late)
    sitting = sat_down(api, cli)
    assert cli("session", "send", sitting.id, "one").code == 0
    told = cli("session", "send", sitting.id, "two", "--wait")
    assert told.code == 3, "the end of the turn before is not the end of the wait"
    assert cli("deny", sitting.id).code == 0


def test_a_turn_that_a_limit_ends_is_a_failure(cli: Cli, serve: Serve) -> None:
    api = serve(turn=stuck)
    sitting = sat_down(api, cli)
    told = cli("session", "send", sitting.id, "go", "--wait")
    assert told.code == 1
    assert "turn 2 ended: stall\n" in told.out
    assert "  the same call three times\n" in told.out


def test_without_a_terminal_a_question_ends_with_3_and_how_to_answer(cli: Cli, serve: Serve) -> None:
    api = serve(turn=tidy)
    asked = cli("session", "new", "-m", "tidy up")
    assert asked.code == 3, asked.err
    (approval,) = api.approvals
    (sitting,) = api.sessions.values()
    assert f"stead approve {approval}" in asked.out
    assert f"then watch:  stead session attach {sitting.id}" in asked.out
    assert cli("session", "attach", sitting.id).code == 3
    assert cli("approve", approval, "--digest", api.approvals[approval].digest).code == 0
    api.wait_for(lambda: sitting.status == "idle")
    told = cli("session", "attach", sitting.id)
    assert told.code == 0
    assert "> edit notes.txt  ok, 12 ms" in told.out
    assert "  ~ notes.txt  +1 -1  [call_2_0]\n    @@ -1,2 +1,2 @@\n     one\n    -two\n    +2\n" in told.out
    assert "turn 1 done, 1 path changed\n  ~ notes.txt  +1 -1\n" in told.out
    assert "checkpoint k_" in told.out


def test_attach_begins_with_the_last_turn_unless_all_is_wanted(cli: Cli, serve: Serve) -> None:
    api = serve(turn=quiet)
    sitting = sat_down(api, cli)
    for words in ("one", "two", "three"):
        assert cli("session", "send", sitting.id, words, "--wait").code == 0
    told = cli("session", "attach", sitting.id)
    assert "You said: three" in told.out
    assert "You said: two" not in told.out
    assert f"stead session attach {sitting.id} --all)" in told.out
    assert "1,860 tokens" in told.out, "what was not told is counted all the same"
    everything = cli("session", "attach", sitting.id, "--all").out
    assert all(f"You said: {words}" in everything for words in ("one", "two", "three"))


def test_an_objective_is_watched_and_a_session_attached_to(cli: Cli, api: Simulator) -> None:
    assert cli("run", "x").code == 0
    (run,) = api.runs
    sitting = sat_down(api, cli)
    refused(cli("session", "attach", run), f"stead watch {run}")
    watched = cli("watch", sitting.id)
    assert (watched.code, watched.out.splitlines()[0]) == (0, f"{sitting.id}: Notes"), "an approval's hint leads here"
    assert cli("session", "show", run[:-1]).code == 2


def test_what_differs_is_shown_line_by_line_or_in_figures(cli: Cli, api: Simulator) -> None:
    sitting = sat_down(api, cli)
    whole = cli("session", "diff", sitting.id).out
    assert "~ notes.txt  +1 -1\n    @@ -1,2 +1,2 @@\n     one\n    -two\n    +2\n" in whole
    assert "~ query.sql  +1 -1\n    @@ -1,1 +1,1 @@\n    --- old\n    +++ new\n" in whole
    assert whole.endswith("2 paths differ: +2 -2 lines\n")
    figures = cli("session", "diff", sitting.id, "--stat").out
    assert figures == "~ notes.txt  +1 -1\n~ query.sql  +1 -1\n2 paths differ: +2 -2 lines\n"
    kept = sitting.checkpoints[0].id
    assert cli("session", "diff", sitting.id, "--old", kept[:6], "--stat").out.endswith("1 path differs: +1 -1 lines\n")
    assert [row["path"] for row in cli("session", "diff", sitting.id, "--json").rows] == ["notes.txt", "query.sql"]
    sitting.differences[("", "")] = []
    assert cli("session", "diff", sitting.id).out == "Nothing differs.\n"
    refused(cli("session", "diff", sitting.id, "--old", "k_ff"), "no checkpoint begins", "--list")


def test_changes_are_listed_shown_and_undone(cli: Cli, api: Simulator) -> None:
    sitting = sat_down(api, cli)
    listed = cli("session", "changes", sitting.id).out
    assert "call_2_0" in listed
    assert "+1 -1" in listed
    assert "    +2\n" in cli("session", "changes", sitting.id, "2_0").out
    refused(cli("session", "changes", sitting.id, "call_9_9"), "changed nothing")
    undone = cli("session", "undo", sitting.id, "2_0")
    assert f"stead session undo {sitting.id} call_2_0 --again" in undone.out
    assert last(api) == commands.UndoEdit(sitting.id, CallKey("call_2_0"))
    assert "undone" in cli("session", "changes", sitting.id).out
    refused(cli("session", "undo", sitting.id, "call_2_0"), "undone already")
    assert cli("session", "undo", sitting.id, "call_2_0", "--again", "--path", "notes.txt").code == 0
    assert last(api) == commands.UndoEdit(sitting.id, CallKey("call_2_0"), "notes.txt", again=True)


def test_a_checkpoint_is_taken_with_a_note_and_listed(cli: Cli, api: Simulator) -> None:
    sitting = sat_down(api, cli)
    taken = cli("session", "checkpoint", sitting.id, "--note", "before the move")
    assert last(api) == commands.TakeCheckpoint(sitting.id, "before the move")
    row = sitting.checkpoints[-1]
    assert taken.out.startswith(f"checkpoint {row.id} as you asked: before the move (1,204 files, 48.2 MB, 3 changed")
    assert "left out: node_modules (always left out)" in taken.out
    assert f"stead session restore {sitting.id} {row.id}" in taken.out
    listed = cli("session", "checkpoint", sitting.id, "--list").out
    assert listed.count("k_") == 2
    assert "before the move" in listed
    assert len(cli("session", "checkpoint", sitting.id, "--list", "--json").rows) == 2
    (fact,) = cli("session", "checkpoint", sitting.id, "--json").rows
    assert fact["type"] == "checkpoint.taken"


@pytest.mark.parametrize(
    ("options", "files", "conversation", "paths"),
    [
        ([], True, True, ()),
        (["--files"], True, False, ()),
        (["--conversation"], False, True, ()),
        (["--path", "notes.txt", "--path", "src"], True, False, ("notes.txt", "src")),
    ],
)
def test_going_back_says_what_it_puts_back_and_how_to_undo_it(
    cli: Cli, api: Simulator, options: list[str], files: bool, conversation: bool, paths: tuple[str, ...]
) -> None:
    sitting = sat_down(api, cli)
    row = sitting.checkpoints[0]
    done = cli("session", "restore", sitting.id, row.id[2:7], *options)
    assert done.code == 0, done.err
    assert last(api) == commands.RestoreCheckpoint(sitting.id, CheckpointId(row.id), files, conversation, paths)
    assert ("1 path would be put back" in done.out) == files
    assert ("the conversation would go back" in done.out) == conversation
    before = sitting.checkpoints[-1].id
    assert done.out.endswith(f"  undo it: stead session restore {sitting.id} {before}\n")


def test_going_back_to_nothing_or_half_is_refused(cli: Cli, api: Simulator) -> None:
    sitting = sat_down(api, cli)
    row = sitting.checkpoints[0]
    refused(cli("session", "restore", sitting.id, "k_ffff"), "no checkpoint begins with 'k_ffff'", "--list")
    refused(cli("session", "restore", sitting.id, row.id, "--path", "a", "--conversation"), "--path names files")
    refused(cli("session", "restore", sitting.id, row.id, "--files", "--conversation"), "not allowed with")


def test_a_fork_goes_on_elsewhere(cli: Cli, api: Simulator, tmp_path: Path) -> None:
    sitting = sat_down(api, cli)
    (tmp_path / "elsewhere").mkdir()
    done = cli("session", "fork", sitting.id, "--at", "7", "--into", str(tmp_path / "elsewhere"), "--title", "Other")
    assert last(api) == commands.ForkSession(sitting.id, 7, str(tmp_path / "elsewhere"), "Other")
    fork = next(reversed(api.sessions))
    assert done.out.startswith(f"{fork} goes on from {sitting.id} with the files as they are now.")
    assert f"stead session attach {fork}" in done.out


def test_the_context_is_a_table_with_its_cost(cli: Cli, api: Simulator) -> None:
    sitting = sat_down(api, cli)
    shown = cli("session", "context", sitting.id).out
    assert "results read      3  12,400      6.2 %  yes     yes" in shown
    assert "13,475 of 200,000 tokens (6.7 %), as the provider counted" in shown
    assert "$0.0404 of input at most, $0.0041 from the provider's cache" in shown
    assert cli("session", "context", sitting.id, "--json").rows[0]["tokens"] == 13_475


def test_calls_are_listed_edited_cancelled_and_retried(cli: Cli, api: Simulator) -> None:
    sitting = sat_down(api, cli)
    assert "call_3_0  shell  asking  make" in cli("session", "calls", sitting.id).out
    assert cli("session", "call", "edit", sitting.id, "3_0", '{"command": "make test"}').code == 0
    assert last(api) == commands.EditCall(sitting.id, CallKey("call_3_0"), '{"command": "make test"}')
    assert cli("session", "call", "edit", sitting.id, "3_0", "-", typed='{"command": "true"}').code == 0
    assert last(api) == commands.EditCall(sitting.id, CallKey("call_3_0"), '{"command": "true"}')
    assert cli("session", "call", "cancel", sitting.id, "call_3_0", "--reason", "not now").code == 0
    assert last(api) == commands.CancelCall(sitting.id, CallKey("call_3_0"), "not now")
    assert cli("session", "call", "retry", sitting.id, "call_3_0").code == 0
    assert last(api) == commands.RetryCall(sitting.id, CallKey("call_3_0"))
    refused(cli("session", "call", "edit", sitting.id, "3_0", "make"), "that is no JSON")
    refused(cli("session", "call", "edit", sitting.id, "3_0", "[1]"), "JSON object")
    refused(cli("session", "call", "retry", sitting.id, "3_0", "{}"), "only edit takes arguments")
    refused(cli("session", "call", "edit", sitting.id, "9_9"), "no open call 'call_9_9'")
    refused(cli("session", "call", "retry", sitting.id, "shell"), "'shell' is no call", "like call_2_0")
    nobody = cli("session", "call", "edit", sitting.id, "3_0")
    assert nobody.code == 3
    assert "no terminal to edit at" in nobody.err
    sitting.calls = []
    assert cli("session", "calls", sitting.id).out == "The queue is empty.\n"


def test_a_plan_is_set_line_by_line_and_as_it_is_given(cli: Cli, api: Simulator, tmp_path: Path) -> None:
    sitting = sat_down(api, cli)
    text = "# not a heading\n1. [x] Look\n- [>] Tidy\n- [-] Paint\n[ ] Sweep\n\nLeave\n"
    assert cli("session", "plan", sitting.id, "--set", "-", typed=text).code == 0
    steps = (
        PlanStep("# not a heading"),
        PlanStep("Look", "done"),
        PlanStep("Tidy", "doing"),
        PlanStep("Paint", "skipped"),
        PlanStep("Sweep"),
        PlanStep("Leave"),
    )
    assert last(api) == commands.SetPlan(sitting.id, steps)
    assert "  2. done    Look\n" in cli("session", "plan", sitting.id).out
    given = tmp_path / "plan.json"
    given.write_text(cli("session", "plan", sitting.id, "--json").out)
    sitting.plan = ()
    assert cli("session", "plan", sitting.id, "--set", str(given)).code == 0
    assert last(api) == commands.SetPlan(sitting.id, steps)
    refused(cli("session", "plan", sitting.id, "--set", "-", typed="- [x] \n"), "is no step")


def test_a_budget_is_shown_and_raised_by_one_figure_or_both(cli: Cli, api: Simulator) -> None:
    sitting = sat_down(api, cli)
    assert "of 20,000,000 tokens" in cli("session", "budget", sitting.id).out
    assert cli("session", "budget", sitting.id, "--tokens", "1,000,000").code == 0
    assert last(api) == commands.RaiseBudget(sitting.id, Budget(1_000_000, 5_000_000))
    assert cli("session", "budget", sitting.id, "--usd", "unlimited").code == 0
    assert last(api) == commands.RaiseBudget(sitting.id, Budget(1_000_000, "unlimited"))
    refused(cli("session", "budget", sitting.id, "--usd", "0"), "not a positive sum")


def test_a_session_is_held_stopped_put_away_and_deleted(cli: Cli, api: Simulator) -> None:
    sitting = sat_down(api, cli)
    for words, wanted in (
        (["pause"], commands.Pause(sitting.id)),
        (["resume"], commands.Resume(sitting.id)),
        (["stop", "--why", "too loud"], commands.Stop(sitting.id, "too loud")),
    ):
        assert cli("session", words[0], sitting.id, *words[1:]).code == 0
        assert last(api) == wanted
    refused(cli("session", "delete", sitting.id, "--now", "--yes"), "close it first")
    assert cli("session", "close", sitting.id).code == 0
    assert last(api) == commands.CloseSession(sitting.id)
    assert cli("session", "delete", sitting.id, "--now", "--yes").code == 0
    assert last(api) == commands.Delete(sitting.id, now=True)


def test_an_export_goes_to_a_new_file_or_to_standard_output(cli: Cli, api: Simulator) -> None:
    sitting = sat_down(api, cli)
    assert cli("session", "export", sitting.id).out == MARKDOWN
    assert cli("session", "export", sitting.id, "--output", "session.md").code == 0
    assert (cli.directory / "session.md").read_text() == MARKDOWN
    assert (cli.directory / "session.md").stat().st_mode & 0o777 == 0o600
    refused(cli("session", "export", sitting.id, "--output", "session.md"), "there is a file")
    (row,) = cli("session", "export", sitting.id, "--json").rows
    assert row["text"] == MARKDOWN


def test_the_shell_completes_the_commands_of_a_session(cli: Cli) -> None:
    actions = cli("completion", "words", "--", "session", "").out.split()
    assert {"attach", "checkpoint", "restore", "fork"} <= set(actions)
    assert "--interrupt" in cli("completion", "words", "--", "session", "send", "--").out.split()


def _spoiled(value: Any, name: str = "") -> Any:
    """The same with an attack on the terminal wherever a model, a tool or a file could have put text."""
    if isinstance(value, dict):
        return {key: _spoiled(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [_spoiled(inner, name) for inner in value]
    return HOSTILE if isinstance(value, str) and name not in ("type", "kind", "what") else value


HARMFUL = set("\x1b\x07\x08\x9b\r\u202e\u200b")
EVENTS = Path(__file__).parents[1] / "events" / "v1"


def printed(item: dict[str, Any], *, live: bool = True, verbose: bool = True) -> None:
    out = Output(plain=True, as_json=False, colourless=True)
    TimelinePrinter(out, HOSTILE, live=live, verbose=verbose).print([item])


@pytest.mark.parametrize("file", sorted(EVENTS.glob("*.json")), ids=lambda path: path.stem)
def test_no_event_of_a_session_reaches_the_terminal_as_anything_but_text(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = _spoiled(json.loads(file.read_text("utf-8")))
    printed({"kind": "line", "place": 0, "body": body})
    shown = capsys.readouterr().out
    assert not set(shown) & HARMFUL
    if file.stem.startswith(("checkpoint.", "file.", "edit.", "memory.")):
        assert "end" in shown, "it is shown at all"


def test_no_item_of_a_session_reaches_the_terminal_as_anything_but_text(capsys: pytest.CaptureFixture[str]) -> None:
    for item in msgspec.to_builtins(items_of(everything(HOSTILE).events)):
        for live in (False, True):
            printed(item, live=live)
        shown = capsys.readouterr().out
        assert not set(shown) & HARMFUL
        assert "end" in shown or item["kind"] == "line" or item.get("state") == "dropped", item["kind"]


def test_of_a_call_that_changes_later_only_what_was_added_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    printer = TimelinePrinter(Output(plain=True, as_json=False, colourless=True), "s", live=False)
    story = Story(created()).turn("I build.", ("shell", '{"command": "make"}'), ("read", "{}")).run(text="built")
    key = CallKey("call_1_1")

    def added() -> str:
        printer.print(msgspec.to_builtins(items_of(story.events)))
        return capsys.readouterr().out

    assert "I build.\n> shell make  ok, 5 ms" in added()
    assert added() == ""
    story.tell(CallRetried(key, "shell", "web"))
    assert added() == "shell runs again\n"
    story.run("error", "no rule")
    assert added() == "> shell make  error, 5 ms  [100 tokens, $0.00]\n    | no rule\n"


def test_long_work_says_how_far_it_is_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    printer = TimelinePrinter(Output(plain=True, as_json=False, colourless=True), "s", live=True)

    def progress(done: int) -> None:
        printer.stream({"type": "progress", "session": "s", "what": "checkpoint", "done": done, "total": 1000})

    for done in range(0, 1000, 100):
        progress(done)
    assert capsys.readouterr().out == "", "done in a moment"
    monkeypatch.setattr(timeline, "_PROGRESS_S", 0.0)
    progress(400)
    assert capsys.readouterr().out == "(checkpoint: 400 of 1,000 files)\n"


def test_what_a_model_is_given_of_memory_is_counted_and_shown_only_when_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = [{"ref": "m_00112233445566aa", "text": "Ada lives in Graz.", "by": ["alias", "words"]}]
    body = {"type": "memory.recalled", "told": told, "dead": ["meaning"]}
    for verbose in (False, True):
        printed({"kind": "line", "place": 0, "body": body}, verbose=verbose)
    count = "1 memory added to the prompt (search by meaning unavailable)\n"
    assert capsys.readouterr().out == f"{count}{count}  m_00112233445566aa  Ada lives in Graz.  (alias, words)\n"
