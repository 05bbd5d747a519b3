"""Tries to reach what a person's programs act on, and what lies beside the folder. Runs inside a machine.

What is seen of the folder is a copy, so those of ``escape_host.ON_A_COPY`` may succeed inside; that nothing came of it
is seen outside.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.attacks.escape_tools import OUTSIDE, TARGETS, TRIES, attempt, found_secret, syscall, wrote

PLANTED = (".envrc", ".bashrc", "new/.git", "new/.vscode", ".mcp.json", "deep/er/still/CLAUDE.md", ".github/workflows")


@attempt
def rename_a_folder_above_a_protected_file() -> object:
    os.rename("lib", "lib2")
    os.makedirs("lib/.git/hooks")
    return "renamed"


@attempt
def rename_over_a_protected_file() -> object:
    Path("evil_agents").write_text("evil")
    os.rename("evil_agents", "AGENTS.md")
    return "replaced"


@attempt
def exchange_a_protected_file() -> object:
    Path("evil_exchange").write_text("evil")
    return 1 + syscall(316, 276, -100, b"evil_exchange", -100, b"AGENTS.md", 2)


@attempt
def reopen_a_protected_file_for_writing() -> object:
    fd = os.open("AGENTS.md", os.O_RDONLY)
    return wrote(f"/proc/self/fd/{fd}")


@attempt
def link_a_protected_file_elsewhere() -> object:
    os.link("AGENTS.md", "linked_agents")
    return wrote("linked_agents")


@attempt
def plant_what_is_not_there() -> object:
    for name in PLANTED:
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        if name.rpartition("/")[2] in (".git", ".vscode", "workflows"):
            os.makedirs(name, exist_ok=True)
            name += "/planted"
        wrote(name)
    os.chmod("new/.git", 0o500)
    os.symlink("/etc/passwd", ".profile")
    return ""  # whether it stays is seen outside


@attempt
def plant_again_for_as_long_as_possible() -> object:
    if os.fork() == 0:
        os.setsid()
        os.closerange(0, 64)
        for _ in range(100_000):
            try:
                wrote("new/.envrc")
                wrote(".npmrc")
            except OSError:
                pass
            time.sleep(0.001)
        os._exit(0)
    return ""  # likewise


@attempt
def remount_a_protected_file_writable() -> object:
    return 1 + syscall(165, 40, 0, b"/work/AGENTS.md", 0, 0x1020, 0)


@attempt
def make_a_second_view_of_the_folder() -> object:
    return 1 + syscall(428, 428, -100, b"/work", 1)


@attempt
def mark_a_folder_for_the_overlay() -> object:
    os.makedirs("marked", exist_ok=True)
    os.setxattr("marked", "trusted.overlay.opaque", b"y")
    return "marked"


@attempt
def see_what_lies_beside_the_folder() -> object:
    home = TARGETS["stead_home"]
    paths = (
        *("/tmp/lower", "/tmp/trial", "/tmp/work", "../lower", "../upper", f"{home}/trials", f"{home}/workspaces"),
        *("/space/folder", "/space/layers", "/space/kept", "/stage"),
    )
    return [path for path in paths if os.path.exists(path)]


@attempt
def read_through_a_descriptor_of_the_folder_above() -> object:
    fd = os.open("..", os.O_RDONLY)
    return found_secret(f"/proc/self/fd/{fd}/outside/secret", f"/proc/self/fd/{fd}/..{OUTSIDE}/secret")


@attempt
def lead_the_daemon_out_by_links() -> object:
    """For whoever sweeps up or applies afterwards: folders on the way become links to the outside."""
    os.symlink(OUTSIDE, "swap")
    os.makedirs("swap2/home", exist_ok=True)
    wrote("swap2/home/.bashrc")
    os.rename("swap2", "swap3")
    os.symlink(OUTSIDE, "swap2")
    return ""  # what was touched is seen outside


@attempt
def truncate_a_protected_file() -> object:
    os.truncate("AGENTS.md", 0)
    return "truncated"


@attempt
def change_the_mode_of_a_protected_file() -> object:
    os.chmod("AGENTS.md", 0o777)
    return "changed"


@attempt
def delete_a_protected_file() -> object:
    os.unlink("AGENTS.md")
    return "deleted"


TRIES.update(
    {
        "change_agent_instructions": lambda: wrote("AGENTS.md"),
        "change_editor_tasks": lambda: wrote(".vscode/tasks.json"),
        "change_a_nested_hook": lambda: wrote("lib/.git/hooks/pre-commit"),
        "unmount_a_protected_file": lambda: 1 + syscall(166, 39, b"/work/AGENTS.md", 2),
    }
)
