"""S1: tries to get out of a sandbox, all of them inside ours, and those that fit any sandbox inside two others too.

The others are installed from ``bench/peers`` (versions and hashes are pinned there) into ``bench/out/peers``, where npm
and what they need are on this host; else they are left out, and the line says why. They let programs read nearly
everything by design, leave the environment and limits to their caller, and are set up here to write one folder, reach
no host and not read the keys. So the bombs, the limits, the environment and what only we promise are not counted for
them: the figure beside ours is of the comparable tries alone, and ours is given for these as well. All run as whoever
runs this; where that is root, they run programs as root, and we never do.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TypeVar

from bench.bar import Bar
from tests.attacks.escape_host import ON_A_COPY, SERVERS, Canaries, Report, install_probes, make_tries
from tests.fakes.aimock import WITH_NODE

T = TypeVar("T")
PEERS = Path(__file__).parent / "peers"
INSTALLED = Path(__file__).parent / "out" / "peers"
TRY_LIMIT_S = 120
OURS_ALONE = frozenset(
    {
        *("see_home_folders", "see_steads_home", "read_own_environment", "read_environments", "leave_a_core_behind"),
        *(
            "write_a_huge_file",
            "grow_a_sparse_file",
            "fill_the_temporary_folder",
            "fill_shared_memory",
            "fill_the_root",
        ),
        *(
            "take_all_memory",
            "raise_a_limit",
            "start_too_many_processes",
            "read_shadow",
            "see_what_lies_beside_the_folder",
        ),
        *("reach_a_server_through_the_way_out", "put_another_way_out_in_its_place"),
        *("overwrite_the_program_of_the_first_process", "mark_a_folder_for_the_overlay", "plant_what_is_not_there"),
        *("plant_again_for_as_long_as_possible", "lead_the_daemon_out_by_links", "see_the_devices_of_the_host"),
        *(
            "change_a_nested_hook",
            "change_editor_tasks",
            "change_agent_instructions",
            "truncate_a_protected_file",
            "delete_a_protected_file",
        ),
        *("change_the_mode_of_a_protected_file", "reopen_a_protected_file_for_writing", "rename_over_a_protected_file"),
        *("exchange_a_protected_file", "link_a_protected_file_elsewhere", "rename_a_folder_above_a_protected_file"),
    }
)
"""What others do not promise, or what their caller is to provide."""


def measure() -> list[Bar]:
    """Ours, whole and comparable, with the others' shares beside."""
    report, on_trial = _tries("workspace"), _tries("trial")
    comparable = sorted(
        name for name in report.held.keys() - OURS_ALONE if not name.startswith(("set_the_", "mark_by_"))
    )
    held = _share(report, sorted(report.held))
    aside = {name: got for name, got in on_trial.held.items() if got}
    said = [
        f"{sum(not got for got in report.held.values())}/{len(report.held)} with obeyed files held, "
        f"{len(on_trial.held) - len(aside)}/{len(on_trial.held)} with everything held "
        f"(what a machine sees of the folder is a copy: of {len(ON_A_COPY)} tries only what came of them counts); "
        f"outside: {len(report.outside) + len(on_trial.outside)}; user {os.geteuid()}"
    ]
    anchors = {}
    for name, command in _peers():
        if isinstance(command, str):
            said.append(f"{name} left out: {command}")
            continue
        through = _in_a_folder(partial(_peer, start=command, names=comparable))
        blocked = sum(not got for got in through.values())
        anchors[f"{name} (comparable {len(comparable)})"] = 100 * blocked / len(comparable)
        said.append(f"{name} {blocked}/{len(comparable)}, through: {', '.join(n for n, got in through.items() if got)}")
    anchors[f"Stead (comparable {len(comparable)})"] = _share(report, comparable)
    holds = held == 100 and not aside and not report.outside and not on_trial.outside and not report.broken
    whole = Bar("S1", held, f"% of {len(report.held)} tries held", "100", holds, anchors, "; ".join(said))
    return [whole, _from_a_server()]


def _from_a_server() -> Bar:
    """The same tries by an MCP server, in its own machine, which shows nothing or a view of the folder."""
    reports = [_tries(mode) for mode in SERVERS]
    tried = [got for report in reports for got in report.held.values()]
    held = 100 * sum(not got for got in tried) / len(tried) if tried else 0.0
    outside = [line for report in reports for line in (*report.outside, *filter(None, [report.broken]))]
    through = [f"{name} ({got})" for report in reports for name, got in report.held.items() if got]
    said = f"by an MCP server: {', '.join(SERVERS)}; through: {', '.join(through) or 'none'}; outside: {len(outside)}"
    return Bar("S1.mcp", held, f"% of {len(tried)} tries held", "100", held == 100 and not outside, {}, said)


def _tries(mode: str) -> Report:
    return _in_a_folder(lambda base: _ours(asyncio.run(make_tries(base, mode))))


def _ours(report: Report) -> Report:
    """Tries that change a copy count as held where nothing of them was seen outside."""
    held = {name: "" if name in ON_A_COPY and not report.outside else got for name, got in report.held.items()}
    return Report(held, report.outside, report.user, report.owner, report.broken)


def _share(report: Report, names: list[str]) -> float:
    return 100 * sum(not report.held[name] for name in names) / len(names) if names else 0.0


def _in_a_folder(work: Callable[[Path], T]) -> T:
    base = Path(tempfile.mkdtemp(prefix="stead-bench-"))
    base.chmod(0o755)
    try:
        return work(base)
    finally:
        shutil.rmtree(base, ignore_errors=True)


_NO_TEMPORARY_FOLDERS = (
    "sandbox_workspace_write.exclude_slash_tmp=true",
    "sandbox_workspace_write.exclude_tmpdir_env_var=true",
)
"""The canaries are in one, and it would let programs write there."""

Start = Callable[[Path, Canaries], list[str]]


def _peers() -> list[tuple[str, Start | str]]:
    """Each with how it is started, or why it cannot be."""
    if why := _install():
        return [("sandbox-runtime", why), ("Codex", why)]
    missing = [program for program in ("socat", "rg", "bwrap") if not shutil.which(program)]
    runtime: Start | str = f"it needs {', '.join(missing)}" if missing else _sandbox_runtime
    return [("sandbox-runtime", runtime), ("Codex", _codex)]


def _install() -> str:
    kept, wanted = INSTALLED / "package-lock.json", PEERS / "package-lock.json"
    there = kept.exists() and (INSTALLED / "node_modules").exists()
    if there and kept.read_bytes() == wanted.read_bytes():
        return ""
    INSTALLED.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PEERS / name, INSTALLED / name)
    line = [str(WITH_NODE), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(line, cwd=INSTALLED, capture_output=True, text=True, timeout=300, check=False)
    return "" if done.returncode == 0 else f"npm ci failed: {done.stderr.strip()[-200:]}"


def _sandbox_runtime(base: Path, canaries: Canaries) -> list[str]:
    settings = base / "srt.json"
    rules = {
        "network": {"allowedDomains": [], "deniedDomains": []},
        "filesystem": {
            "denyRead": [str(canaries.outside / "home/.ssh")],
            "allowWrite": [str(canaries.project)],
            "denyWrite": [],
        },
    }
    settings.write_text(json.dumps(rules))
    cli = INSTALLED / "node_modules/@anthropic-ai/sandbox-runtime/dist/cli.js"
    return [str(WITH_NODE), "node", str(cli), "--settings", str(settings)]


def _codex(_base: Path, _canaries: Canaries) -> list[str]:
    home = INSTALLED / "codex-home"  # it refuses one in a temporary folder
    home.mkdir(exist_ok=True)
    cli = INSTALLED / "node_modules/@openai/codex/bin/codex.js"
    settings = ('sandbox_mode="workspace-write"', *_NO_TEMPORARY_FOLDERS)
    chosen = [word for setting in settings for word in ("-c", setting)]
    return ["env", f"CODEX_HOME={home}", str(WITH_NODE), "node", str(cli), "sandbox", *chosen, "--"]


def _peer(base: Path, start: Start, names: list[str]) -> dict[str, str]:
    """What each try got inside another sandbox, and "" where it was held; one that was never made counts as broken."""
    with ExitStack() as closing:
        canaries = Canaries(base, closing, [])
        install_probes(canaries.project, canaries.targets(base))
        line = [*start(base, canaries), "python3", "-B", "-m", "tests.attacks.escape_probe", *names]
        done = subprocess.run(
            line,
            cwd=canaries.project,
            capture_output=True,
            text=True,
            timeout=TRY_LIMIT_S,
            check=False,
            env={**os.environ, "HOME": str(base)},
        )
    for text in reversed(done.stdout.splitlines()):
        if text.startswith("{"):
            return dict(json.loads(text))
    raise RuntimeError(f"{line[0]} made no tries: {done.stderr.strip()[-500:] or done.stdout[-500:]}")
