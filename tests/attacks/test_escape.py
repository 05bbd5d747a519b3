"""The escape suite: every try is made inside a real machine, by a root daemon and by an ordinary user's.

By a command, in a person's terminal, and by an MCP server in the machine that it has for itself.

That a try can succeed at all is shown by making those that harm nobody outside of any sandbox.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest

from tests.attacks.escape_host import ON_A_COPY, Canaries, Report, install_probes, make_tries
from tests.attacks.ordinary import USER, as_ordinary_user
from tests.machines.bench import require_sandbox
from tests.promises import promise

AS_ROOT = os.geteuid() == 0
MAY_SUCCEED: dict[str, frozenset[str]] = {
    "workspace": ON_A_COPY,
    "trial": ON_A_COPY,
    "copy": ON_A_COPY,
    "terminal": ON_A_COPY | {"open_the_controlling_terminal"},  # its own, which is in the machine
    "server": ON_A_COPY,
    "server with the folder": ON_A_COPY | {"change_a_toolchain"},  # it is below /tmp here, which this view hides
}
MODES = tuple(MAY_SUCCEED)
HALF = ("trial", "copy", "server with the folder")
"""By a root daemon; an ordinary user's is tried in the other half, as whose daemon it is changes no mode."""
SET_ID_WAYS = (
    *("chmod", "the_chmod_program", "a_letter", "install", "fchmod", "fchmodat", "a_descriptor_in_proc", "a_thread"),
    *("another_process", "copying", "unpacking", "open", "exclusive_open", "an_unnamed_file", "mknod", "a_pipe"),
    *("a_socket", "bare_fchmodat", "bare_fchmod", "high_bits", "kind_bits", "bare_openat", "openat2", "bare_mknodat"),
)
"""All but those that one architecture, or an older kernel, does not have."""
GET_THROUGH_OUTSIDE = {
    *("read_a_private_key", "read_through_a_link_in_the_workspace", "read_through_dots", "read_own_environment"),
    *("make_a_hard_link_to_the_outside", "see_home_folders", "see_host_processes", "signal_a_host_process"),
    *("write_a_file_outside", "write_through_a_link", "write_shell_start_files", "plant_a_git_hook"),
    *("plant_another_git_layout", "rename_the_git_folder_away", "share_memory_with_the_host", "trace_a_child"),
    *("reach_a_server_of_the_host", "reach_a_named_socket", "reach_an_abstract_socket", "make_a_user_namespace"),
    *("make_a_user_namespace_by_clone", "make_a_user_namespace_by_clone3", "make_a_virtual_machine_socket"),
    *("use_the_keyring", "read_the_memory_of_a_process", "change_personality", "see_the_devices_of_the_host"),
    *("type_into_a_terminal", "read_by_file_handle", "grow_a_sparse_file"),
    *(f"set_the_{kind}_bit_by_{way}" for kind in ("user", "both") for way in SET_ID_WAYS),
}
"""Tries that harm nobody but their canaries."""


@pytest.fixture
def base() -> Iterator[Path]:
    """A folder that everybody may enter, unlike those that pytest makes."""
    made = Path(tempfile.mkdtemp(prefix="stead-escape-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def assert_held(report: Report, mode: str) -> None:
    assert not report.broken, report.broken
    assert len(report.held) >= 200
    got = {name: got for name, got in report.held.items() if got}
    assert set(got) - MAY_SUCCEED[mode] == set(), got
    assert not [value for value in got.values() if value.startswith("BROKEN")]
    assert report.outside == []


@promise("SEC-5.sandbox", "SEC-1.mcp")
@pytest.mark.skipif(not AS_ROOT, reason="a daemon that is root can only be tried by root; run the tests as root")
@pytest.mark.parametrize("mode", [pytest.param(one, marks=[pytest.mark.long] * (one not in HALF)) for one in MODES])
async def test_nothing_gets_out_of_a_machine_of_a_root_daemon(base: Path, mode: str) -> None:
    require_sandbox()
    report = await make_tries(base, mode)
    assert_held(report, mode)
    assert report.user == 65534 and report.owner == 0


@promise("SEC-5.sandbox", "SEC-1.mcp")
@pytest.mark.parametrize(
    "mode", [pytest.param(one, marks=[pytest.mark.long] * (AS_ROOT and one in HALF)) for one in MODES]
)
async def test_nothing_gets_out_of_a_machine_of_an_ordinary_users_daemon(base: Path, mode: str) -> None:
    require_sandbox()
    if not AS_ROOT:
        report = await make_tries(base, mode)
        assert_held(report, mode)
        assert report.user == report.owner == os.geteuid()
        return
    done = as_ordinary_user(base, "tests.attacks.escape_host", str(base), mode)
    assert done.returncode == 0, done.stderr
    report = msgspec.json.decode(done.stdout, type=Report)
    assert_held(report, mode)
    assert report.user == report.owner == USER


def test_the_same_tries_do_get_through_without_a_sandbox(base: Path) -> None:
    drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"] if AS_ROOT else []
    python = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
    with ExitStack() as closing:
        canaries = Canaries(base, closing, drop)
        install_probes(canaries.project, canaries.targets(base))
        canaries.project.chmod(0o777)
        done = subprocess.run(
            [*drop, python, "-B", "-m", "tests.attacks.escape_probe", *sorted(GET_THROUGH_OUTSIDE)],
            cwd=canaries.project,
            capture_output=True,
            text=True,
            timeout=60,
        )
        seen = canaries.seen()
    got = json.loads(done.stdout)
    held = {name for name in GET_THROUGH_OUTSIDE if not got[name]}
    assert len(GET_THROUGH_OUTSIDE - held) >= 22 + 2 * len(SET_ID_WAYS), held
    assert not [name for name, value in got.items() if value.startswith("BROKEN")]
    assert {"a TCP server was reached", "a named socket was reached", "a process was killed"} <= set(seen)
    assert any(line.endswith("secret changed") for line in seen)
