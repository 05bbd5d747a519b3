"""Every other command, as a process against a server: what it asks for, what it says, how it fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stead.domain import commands
from stead.domain.events import Budget, ModelRef, PlanMade
from stead.domain.ids import CallKey, SessionId
from stead.domain.ports import Isolation
from stead.domain.rows import StepRow
from tests.cli import scripts
from tests.cli.conftest import Cli
from tests.cli.simulator import Run, Simulator

Serve = Callable[..., Simulator]


@pytest.fixture
def ended(serve: Serve, cli: Cli) -> Run:
    """An objective that has failed."""
    api = serve(lambda run: run.end("failed", "stall", "It went in circles."))
    api.begin(commands.OpenSession(str(cli.directory), goal="count the lines\nof all files", title="Count lines"))
    (run,) = api.runs.values()
    api.wait_for(lambda: run.status == "failed")
    return run


def test_objectives_are_listed_in_columns(cli: Cli, ended: Run) -> None:
    heading, row = cli("objectives").out.splitlines()
    assert heading.split() == ["ID", "STATUS", "TITLE", "TOKENS", "COST", "CREATED"]
    assert row.split("  ")[0] == ended.id
    assert "failed" in row
    assert "Count lines" in row
    assert cli("objectives", "--status", "running").out == "None is running.\n"
    assert [item["id"] for item in cli("objectives", "--json").rows] == [ended.id]


def test_without_objectives_the_list_says_how_to_begin(cli: Cli, api: Simulator) -> None:
    assert cli("objectives").out == "No objectives yet. Give one: stead run GOAL\n"


def test_the_newest_are_listed_unless_all_are_wanted(cli: Cli, serve: Serve) -> None:
    api = serve(lambda run: None)
    for number in range(25):
        api.begin(commands.OpenSession("/", goal=f"goal {number}"))
    assert len(cli("objectives", "--json").rows) == 20
    assert len(cli("objectives", "--all", "--json").rows) == 25


def test_one_objective_is_shown_with_its_steps(cli: Cli, ended: Run) -> None:
    ended.api.steps.append(
        StepRow(
            session=ended.id,
            index=1,
            ts_ms=0,
            reasoning="look first",
            key=CallKey("call_1_0"),
            tool="shell",
            input='{"command": "wc -l *"}',
            output="3",
            verdict="ask",
            rule="shell.each",
            risk="high",
            outcome="error",
            tokens_in=400,
            tokens_out=50,
            usd_micros=0,
            duration_ms=1500,
            error="no such file",
        )
    )
    shown = cli("show", ended.id[:8]).out
    assert shown.startswith(f"{ended.id}: Count lines\n  status     failed (stall)\n")
    assert "goal\n  count the lines\n  of all files\n" in shown
    assert "summary\n  It went in circles.\n" in shown
    assert (
        "step 1: shell wc -l *\n  error, 1.5 s, 450 tokens, asked by rule shell.each\n  look first\n  no such file"
        in shown
    )
    (row,) = cli("show", ended.id, "--json").rows
    assert row["objective"]["reason"] == "stall"
    assert row["steps"][0]["tool"] == "shell"


@pytest.mark.parametrize(
    ("words", "said", "command"),
    [
        (["pause"], "pauses after the current step", commands.Pause),
        (["resume"], "is running again", commands.Resume),
        (["cancel"], "is cancelled", commands.Cancel),
        (["stop"], "its processes are killed and it is paused", commands.Stop),
        (["retry"], "runs again", commands.Retry),
        (["delete", "--now", "--yes"], "is erased", commands.Delete),
    ],
)
def test_what_is_done_to_an_objective_is_asked_once_and_said(
    cli: Cli, ended: Run, words: list[str], said: str, command: type
) -> None:
    done = cli(*words, ended.id)
    assert done.code == 0, done.err
    assert ended.id in done.out
    assert said in done.out
    assert [type(made) for made in ended.api.commands] == [command]
    assert cli(*words, ended.id, "--json").rows[0]["session"] == ended.id


def test_arguments_of_commands_reach_the_daemon(cli: Cli, ended: Run) -> None:
    assert cli("message", ended.id, "use tabs").code == 0
    assert cli("revoke", ended.id, "write").out == "Taken back: write asks again from now on.\n"
    assert cli("retry", ended.id, "--budget-tokens", "9000").code == 0
    assert cli("stop", ended.id, "--why", "too loud").code == 0
    assert cli("stop").code == 0
    assert cli("stop", "--all", "--why", "fire").code == 0
    everything = SessionId("*")
    assert ended.api.commands == [
        commands.SendMessage(ended.id, "use tabs"),
        commands.Revoke(ended.id, "write"),
        commands.Retry(ended.id, Budget(9000, 5_000_000)),
        commands.Stop(ended.id, "too loud"),
        commands.Stop(everything, ""),
        commands.Stop(everything, "fire"),
    ]


def test_stop_with_a_whole_id_is_one_request(cli: Cli, ended: Run) -> None:
    ended.api.requests.clear()
    assert cli("stop", ended.id).code == 0
    assert ended.api.requests == [("POST", f"/api/v1/sessions/{ended.id}/stop")]


def test_an_id_may_be_abbreviated_as_long_as_it_is_clear(cli: Cli, serve: Serve) -> None:
    api = serve(lambda run: None)
    ids = ["s_00000000000000aa", "s_00000000000000ab", "s_0b00000000000000"]
    for id in ids:
        api.runs[id] = Run(api, SessionId(id), commands.OpenSession("/", goal=f"goal of {id}"))
    assert cli("pause", "0b").code == 0
    assert cli("pause", "s_0b").code == 0
    assert {command.session for command in api.commands if isinstance(command, commands.Pause)} == {ids[2]}
    several = cli("pause", "s_00")
    assert several.code == 2
    assert several.err.startswith("error: 's_00' begins several: s_00000000000000ab (goal of s_00")
    assert cli("pause", "s_7").err == "error: no objective begins with 's_7'\nnext: stead objectives --all\n"
    assert cli("pause", "../stop").err.startswith("error: '../stop' is not a valid ID\n")


def test_an_objective_that_asks_nothing_or_too_much_is_not_answered_by_its_id(cli: Cli, serve: Serve) -> None:
    api = serve(scripts.summary)
    run = api.begin(commands.OpenSession(str(cli.directory), goal="g"))
    api.wait_for(lambda: len(api.approvals) == 1)
    api.begin(commands.OpenSession(str(cli.directory), goal="h"))
    api.wait_for(lambda: len(api.approvals) == 2)
    (first, second) = api.approvals
    api.approvals[second] = type(api.approvals[second])(
        **{**{f: getattr(api.approvals[second], f) for f in api.approvals[second].__struct_fields__}, "session": run.id}
    )
    assert "begins several" in cli("approve", run.id).err
    seen = api.approvals[first].digest
    assert cli("approve", first, "--digest", seen, "--project").out.endswith(f"stead watch {run.id}\n")
    assert "no pending approval begins with" in cli("deny", "s_0123456789abcdef").err
    assert "no pending approval begins with" in cli("deny", "ffff").err


def test_pending_approvals_are_listed_and_shown_in_full(cli: Cli, serve: Serve) -> None:
    api = serve(scripts.summary)
    assert cli("approvals").out == "Nothing waits for your answer.\n"
    api.begin(commands.OpenSession(str(cli.directory), goal="g"))
    api.wait_for(lambda: bool(api.approvals))
    (approval,) = api.approvals
    listed = cli("approvals").out
    assert f"{approval}  pending  medium  write  SUMMARY.md  g" in listed
    assert "heading 29" in cli("approvals", approval[:5]).out
    assert [row["id"] for row in cli("approvals", "--json").rows] == [approval]
    assert (
        cli("approve", approval, "--digest", api.approvals[approval].digest[:16], "--json").rows[0]["answer"] == "once"
    )
    assert cli("approvals", "--json").rows == []
    assert [row["status"] for row in cli("approvals", "--all", "--json").rows] == ["given"]


def test_providers_are_added_keyed_tested_chosen_and_removed(cli: Cli, api: Simulator) -> None:
    added = cli("providers", "add", "acme", "--preset", "openai", "--model", "m-1", "--key-env", "ACME_KEY")
    assert added.out == "acme is configured. Next: stead providers test acme\n"
    assert (
        "set-key vaulted" in cli("providers", "add", "vaulted", "--preset", "p", "--key-vault", "--url", "http://x").out
    )
    assert cli("providers", "set-key", "vaulted", typed="sk-abc\n").code == 0
    tested = cli("providers", "test", "acme")
    assert tested.out == "ok: answered ok, 42 ms\nits models: m-1, m-2\n"
    assert cli("providers", "use", "acme/m-1", "rehearsal/rehearsal").out == (
        "New objectives use acme/m-1, then rehearsal/rehearsal.\n"
    )
    listed = cli("providers")
    assert "acme       openai     m-1        env:ACME_KEY  private    configured" in listed.out
    assert "in use: acme/m-1, then rehearsal/rehearsal" in listed.out
    assert cli("providers", "remove", "vaulted", "--yes").code == 0
    assert api.commands == [
        commands.ConfigureProvider("acme", "openai", "", "m-1", "env:ACME_KEY"),
        commands.ConfigureProvider("vaulted", "p", "http://x", "", "vault"),
        commands.SetProviderKey("vaulted", "sk-abc"),
        commands.SetChain((ModelRef("acme", "m-1"), ModelRef("rehearsal", "rehearsal"))),
        commands.RemoveProvider("vaulted"),
    ]


def test_a_provider_that_fails_its_test_ends_with_1(cli: Cli, api: Simulator) -> None:
    assert cli("providers", "add", "broken", "--preset", "p").code == 0
    tested = cli("providers", "test", "broken")
    assert (tested.code, tested.out) == (1, "failed: no key; set one\n")
    assert cli("providers", "test", "nobody").code == 2
    assert cli("providers", "test", "a/../b").err.startswith("error: 'a/../b' is no provider's name\n")


def test_a_key_is_never_taken_from_the_command_line(cli: Cli, api: Simulator) -> None:
    refused = cli("providers", "set-key", "rehearsal", "sk-abc").err
    assert "more words than this command takes" in refused and "sk-abc" not in refused
    assert cli("providers", "set-key", "rehearsal", typed="").err.startswith("error: no key of rehearsal was given\n")
    assert cli("providers", "set-key", "rehearsal", typed="a\nb").err.startswith("error: what was given does not look")
    assert api.commands == []


def test_presets_are_listed_with_what_they_have(cli: Cli, api: Simulator) -> None:
    shown = cli("providers", "presets", "--plain").out.splitlines()
    assert shown[0].split() == ["NAME", "TITLE", "BASE", "URL", "MODEL", "KEY", "ENV"]
    assert shown[1].split() == ["openai", "OpenAI", "https://api.example.com/v1", "m-1", "OPENAI_API_KEY"]
    assert cli("--json", "providers", "presets").rows[0]["name"] == "openai"


def test_a_cap_is_set_in_part_and_taken_away(cli: Cli, api: Simulator) -> None:
    used = "990 tokens, $0.00 are spent or reserved.\n"
    assert cli("cap").out.startswith("No cap")
    assert cli("cap", "--usd", "10").out == f"A day, all together: at most unlimited tokens, $10.00; {used}"
    day = f"A day, all together: at most 5,000 tokens, $10.00; {used}"
    assert cli("cap", "--tokens", "5000").out == day
    assert cli("cap", "--month", "--usd", "90").out == (
        f"{day}A month, all together: at most unlimited tokens, $90.00; {used}"
    )
    (shown,) = cli("cap", "--json").rows
    assert shown["daily"] == {"tokens": 5000, "usd_micros": 10_000_000}
    assert shown["monthly"] == {"tokens": "unlimited", "usd_micros": 90_000_000}
    assert cli("cap", "--none").code == 0
    assert api.caps["daily"] == Budget("unlimited", "unlimited") != api.caps["monthly"]
    assert "nothing may run" in cli("cap", "--tokens", "0").out
    assert "is not a positive" in cli("cap", "--tokens", "few").err
    assert cli("cap", "--none", "--usd", "1").code == 2


def test_usage_is_summed(cli: Cli, api: Simulator) -> None:
    shown = cli("usage", "--days", "7").out.splitlines()
    assert shown[1].split() == ["2031-05-04", "acme/m-1", "strict", "3", "1", "1,200", "340", "800", "(66%)", "$0.0123"]
    assert shown[-1] == "1,540 tokens, $0.0123 in all"
    assert ("GET", "/api/v1/usage?days=7&by=model&per=day") in api.requests
    assert cli("usage", "--by", "session").out.splitlines()[0].split()[:2] == ["SESSION", "TIME"]
    assert cli("usage", "--days", "0").code == 2
    shown = cli("providers", "trust").out.splitlines()
    assert shown[1].split() == ["acme/m-1", "strict", "measured", "40", "50", "6", "1", "2", "0", "3", "9"]


def test_the_journal_is_searched_shown_and_rebuilt(cli: Cli, ended: Run) -> None:
    found = cli("journal", "search", "lost", "keys & more").out
    assert "a «lost keys & more» b" in found
    shown = cli("journal", "show", ended.id).out.splitlines()
    assert [line.split()[4] for line in shown] == ["session.opened", "objective.ended"]
    assert cli("journal", "show", "home").out == "home has no events there.\n"
    assert [row["seq"] for row in cli("journal", "show", ended.id, "--after", "1", "--json").rows] == [2]
    assert "1 min ago" in cli("journal", "open").out
    assert ended.id in cli("journal", "tokens").out
    assert cli("journal", "rebuild").out == "The read models were rebuilt from the journal.\n"
    assert cli("journal").code == 2


def test_the_room_that_each_part_takes_is_counted_once_without_a_daemon(cli: Cli) -> None:
    assert "there is no home yet" in cli("disk").err
    cli.home.make()
    root = cli.home.root
    for name, size in (("data/journal.db", 8192), ("data/journal.db-wal", 4096), ("trials/s_1/x", 4096)):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"x" * size)
    (root / "trials" / "again").hardlink_to(root / "trials" / "s_1" / "x")
    (root / "trials" / "out").symlink_to("/usr/bin/env")
    rows = {row["part"]: (row["files"], row["bytes"]) for row in cli("disk", "--json").rows}
    assert rows["journal"] == (2, 12288) and rows["held changes, checkpoints and undo"] == (1, 4096)
    assert f"in all at {root}; " in cli("disk").out


def test_the_log_is_shown_by_its_end_and_cleaned(cli: Cli) -> None:
    assert "there is no log yet" in cli("logs").err
    cli.home.make()
    cli.home.log.write_text("".join(f"line {number}\n" for number in range(5000)) + "\x1b[2Jlast", "utf-8")
    assert cli("logs", "-n", "2").out == "line 4999\nlast\n"
    assert len(cli("logs").out.splitlines()) == 50
    assert cli("logs", "-n", "0").out == ""
    assert cli("logs", "-n", "1", "--json").rows == [{"line": "\x1b[2Jlast"}]


def test_the_log_is_followed_over_its_rotation(cli: Cli) -> None:
    cli.home.make()
    cli.home.log.write_text("old\n")
    with cli.running("logs", "-f") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "old\n"
        with cli.home.log.open("a") as log:
            log.write("new\n")
        assert process.stdout.readline() == "new\n"
        cli.home.log.rename(cli.home.log.with_suffix(".1"))
        cli.home.log.write_text("newest\n")
        assert process.stdout.readline() == "newest\n"


@pytest.mark.parametrize(
    ("line", "completes"),
    [
        ("prov", ["providers"]),
        ("run --budget-t", ["--budget-tokens"]),
        ("run --profile ", ["work", "ask", "readonly"]),
        ("providers set --effort ", ["low", "medium", "high", "none"]),
        ("providers set-", ["set-key"]),
        ("logs --fol", ["--follow"]),
        ("memory add --k", ["--key", "--kind"]),
        ("memory forget --k", []),
        ("completion ", ["bash", "zsh", "fish", "install", "uninstall", "words"]),
        ("no-such ", []),
    ],
)
def test_what_may_stand_where_something_is_typed_is_completed(cli: Cli, line: str, completes: list[str]) -> None:
    shown = cli("completion", "words", "--", *line.split(" "))
    assert (shown.code, shown.out.split(), shown.err) == (0, completes, "")


def test_all_options_are_those_of_one_action(cli: Cli) -> None:
    options = cli("completion", "words", "--", "memory", "add", "--").out.split()
    assert "--key" in options
    assert "--nearly" not in options, "that is one of memory forget"


def test_ids_are_completed_from_a_daemon_that_runs_and_none_is_started(cli: Cli, ended: Run) -> None:
    assert cli("completion", "words", "--", "show", "").out.split() == [ended.id]
    assert cli("completion", "words", "--", "show", "x").out == ""
    elsewhere = cli.directory / "other"
    asked = cli("completion", "words", "--", "--home", str(elsewhere), "show", "")
    assert (asked.code, asked.out) == (4, "")
    assert not elsewhere.exists()


def test_bash_accepts_its_completion_and_completes(cli: Cli) -> None:
    """The other two shells ask the same command; they are not on every machine."""
    stead = f'stead() {{ {sys.executable} -m stead "$@"; }}'
    code = (
        f'{stead}; source /dev/stdin; COMP_WORDS=(stead run --budget-t); COMP_CWORD=2; _stead; echo "${{COMPREPLY[@]}}"'
    )
    script = cli("completion", "bash").out
    done = subprocess.run(["bash", "-c", code], input=script, capture_output=True, text=True, timeout=20, check=False)
    assert (done.stdout, done.stderr) == ("--budget-tokens\n", "")
    for shell in ("zsh", "fish"):
        assert "stead completion words -- " in cli("completion", shell).out


def test_status_fits_one_screen_and_says_what_the_model_is(cli: Cli, ended: Run) -> None:
    shown = cli("status")
    assert shown.code == 0
    assert len(shown.out.splitlines()) == 6
    assert "rehearsal: offline, follows a fixed grammar, no AI" in shown.out
    assert "running  0 objectives" in shown.out
    assert "waiting  none" in shown.out
    (row,) = cli("status", "--json").rows
    assert (row["running"], row["rehearsal"], row["approvals_pending"]) == (True, True, 0)


def test_without_a_daemon_commands_say_how_to_start_it(cli: Cli) -> None:
    shown = cli("status")
    assert (shown.code, shown.err) == (4, "")
    assert "not running" in shown.out
    assert cli("status", "--json").rows[0]["running"] is False
    failed = cli("stop")
    assert failed.code == 4
    assert failed.err == f"error: no daemon runs for '{cli.home.root}'\nnext: start it with: stead up\n"
    assert cli("down").out == "Stead is not running.\n"


def test_another_home_is_chosen_before_or_after_the_command(cli: Cli, api: Simulator) -> None:
    elsewhere = str(cli.directory / "other")
    assert f"'{elsewhere}'" in cli("--home", elsewhere, "status").out
    assert f"'{elsewhere}'" in cli("status", "--home", elsewhere).out
    assert cli("stop", "--home", elsewhere).code == 4
    assert cli("status", "--home", str(cli.home.root)).code == 0


def test_errors_are_json_where_results_are(cli: Cli) -> None:
    failed = cli("stop", "--json")
    assert failed.out == ""
    assert json.loads(failed.err)["error"]["code"] == "no_daemon"
    assert json.loads(cli("run", "--json").err)["error"]["next"] == "stead run --help"


def test_an_unknown_command_names_the_nearest(cli: Cli) -> None:
    assert cli("aprove").err == "error: there is no command 'aprove'\nnext: stead approve --help\n"
    assert cli("xyzzy").err == "error: there is no command 'xyzzy'\nnext: stead --help\n"
    assert cli("--bogus").code == 2


def test_a_traceback_is_shown_only_when_asked_for(cli: Cli) -> None:
    assert "Traceback" not in cli("stop").err
    debugged = cli("stop", "--debug")
    assert "Traceback" in debugged.err
    assert debugged.err.rstrip().endswith("next: start it with: stead up")


def test_a_reader_that_has_seen_enough_is_no_error(cli: Cli, ended: Run) -> None:
    for _ in range(400):
        ended.happen(PlanMade(scripts.PLAN, "model"))
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "stead", "journal", "show", ended.id],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=cli.environment(),
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(20) == 0


def test_open_prints_its_link_where_there_is_no_browser(cli: Cli, api: Simulator) -> None:
    link = f"http://brave-otter.localhost:{api.port}/#code=c0de"
    assert cli("open", "--print").out == f"{link}\n"
    assert cli("open", "--print", "--json").rows == [{"url": link, "opened": False}]
    plain = cli("open", "--print", "--plain-host")
    assert plain.out == f"http://127.0.0.1:{api.port}/#code=c0de\n"
    assert plain.err.startswith("warning: at 127.0.0.1, every server on this machine")
    opener = cli.directory / "opener"
    opener.write_text(f'#!/bin/sh\nprintf %s "$1" > {cli.directory}/opened\n')
    opener.chmod(0o755)
    assert cli("open", BROWSER=f"{opener} %s").out.startswith("Opened the page in your browser.")
    opened = (cli.directory / "opened").read_text()
    page = cli.home.run / "open.html"
    assert opened == page.as_uri(), "the code is on no command line, which other accounts could read"
    assert f"url={link}" in page.read_text()
    assert page.stat().st_mode & 0o777 == 0o600


def test_up_with_a_running_daemon_says_so_and_links_again(cli: Cli, api: Simulator) -> None:
    shown = cli("up")
    assert shown.code == 0
    assert f"Stead 0.1.0 is already running (pid {os.getpid()})." in shown.out
    assert "/#code=c0de" in shown.out
    assert 'stead run "read README.md and write SUMMARY.md with its headings"' in shown.out


@pytest.mark.parametrize("found", [True, False])
def test_the_next_command_works_as_it_is_printed_whatever_the_path(cli: Cli, api: Simulator, found: bool) -> None:
    beside, system = str(Path(sys.executable).parent), "/usr/bin:/bin"
    path = f"{beside}:{system}" if found else system
    program, _, rest = cli("up", "--json", PATH=path).rows[0]["next"].partition(" ")
    assert program == ("stead" if found else f"{beside}/stead")
    assert rest.startswith("run ")
    command = ["/bin/sh", "-c", f"{program} --version"]
    told = subprocess.run(command, env={"PATH": path}, capture_output=True, text=True, timeout=20, check=True)
    assert "0.1.0" in told.stdout


def test_the_recovery_key_is_shown_once(cli: Cli, api: Simulator) -> None:
    note = cli.home.run / "recovery.txt"
    note.write_text("ABCD-EFGH\n")
    first, second = cli("up"), cli("up", "--json")
    assert "ABCD-EFGH" in first.out
    assert "Recovery key" in first.out
    assert "recovery_key" not in second.rows[0]
    assert not note.exists()


def test_status_names_the_doctor_only_where_nothing_can_be_sandboxed(cli: Cli, api: Simulator) -> None:
    def sandbox() -> str:
        return next(line for line in cli("status").out.splitlines() if line.startswith("sandbox"))

    assert sandbox() == f"sandbox  {api.isolation.statement}"
    api.isolation = Isolation(False, "none", "User namespaces are forbidden here.", ())
    assert sandbox() == "sandbox  off: User namespaces are forbidden here. See: stead doctor"
