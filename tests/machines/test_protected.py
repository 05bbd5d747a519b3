"""Files that a person's programs act on: read-only where they are, moved out where they are planted."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from stead.domain.errors import Conflict, InvalidRequest, MachineUnavailable, NotFound
from stead.domain.ids import SessionId
from stead.domain.trials import Swept
from stead.machines.bubblewrap import BubblewrapMachines
from stead.machines.checkpoints import FolderCheckpoints
from stead.machines.desk import Desk
from stead.machines.machine import Binding, start_machine
from stead.machines.protected import check_released, is_protected, scan
from stead.machines.quarantine import QuarantineFolder
from stead.machines.sandbox import Limits
from stead.storage.contents import ContentStore
from tests.machines.bench import SESSION, Bench, live_permit, require_sandbox, this_host
from tests.machines.folders import quiet

OTHER = SessionId("s_fedcba9876543210")


class Guarded(Bench):
    """A bench that hears what was swept up."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.swept: list[tuple[SessionId, Swept]] = []
        self.machines = self.another()
        self.desk = Desk(self.home, self.machines.kill)

    def another(self) -> BubblewrapMachines:
        """Machines of another daemon over the same home."""
        return BubblewrapMachines(
            self.home, host=this_host(), on_swept=lambda session, swept: self.swept.append((session, swept))
        )

    def release(self, *paths: str) -> None:
        self.machines.bind(SESSION, str(self.project), writable=True, released=paths)

    async def planted(self) -> list[str]:
        """What was moved out after the machine's end."""
        await self.machines.kill(SESSION)
        return sorted(row.path for _, swept in self.swept for row in swept.moved)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Guarded]:
    require_sandbox()
    opened = Guarded(tmp_path)
    opened.bind()
    yield opened
    await opened.machines.close()


def test_what_is_protected_is_known_by_its_name_wherever_it_lies() -> None:
    for path in (
        ".git",
        "a/.git/config",
        ".envrc",
        "deep/down/CLAUDE.md",
        ".github/workflows/ci.yml",
        ".vscode/x",
        "pip.conf",
    ):
        assert is_protected(path), path
    for path in (
        "Makefile",
        "README.md",
        ".github/CODEOWNERS",
        "git/config",
        ".gitignore",
        "workflows/x",
        ".editorconfig",
    ):
        assert not is_protected(path), path
    assert not is_protected(".vscode/tasks.json", (".vscode",)) and is_protected("sub/.vscode/x", (".vscode",))


@pytest.mark.parametrize("path", ["", "/etc", "../up", "a/../b", "a//b", ".", "a\0b"])
def test_only_a_path_within_the_folder_can_be_released(path: str) -> None:
    with pytest.raises(InvalidRequest):
        check_released([path])


async def test_existing_protected_files_cannot_be_changed_at_any_depth(bench: Guarded) -> None:
    for path in (
        "AGENTS.md",
        ".vscode/tasks.json",
        "lib/part/.git/hooks/sample",
        "lib/part/CLAUDE.md",
        ".github/workflows/ci.yml",
    ):
        (bench.project / path).parent.mkdir(parents=True, exist_ok=True)
        (bench.project / path).write_text("mine\n")
    for attack in (
        "echo evil >> AGENTS.md",
        "rm -f AGENTS.md",
        "mv AGENTS.md x",
        "sed -i s/mine/evil/ AGENTS.md",
        "echo evil > .vscode/settings.json",
        "mv .vscode x",
        "echo evil > lib/part/.git/hooks/pre-commit",
        "mv lib/part/.git x",
        "mv lib/part lib/other",
        "mv lib other",
        "echo evil > .github/workflows/new.yml",
        "mv .github x",
        "ln -f /dev/null AGENTS.md",
        "chmod 777 AGENTS.md",
        "umount /work/AGENTS.md",
    ):
        assert (await bench.run(attack)).exit_code != 0, attack
    await bench.output("echo fine > lib/part/code.py; mkdir lib/other; mv lib/part/code.py lib/other/; cat AGENTS.md")
    assert await bench.planted() == []
    assert (bench.project / "AGENTS.md").read_text() == "mine\n"


async def test_planted_protected_files_are_moved_out_when_the_machine_ends(bench: Guarded) -> None:
    await bench.output(
        "echo evil > .envrc; mkdir -p sub/.vscode deep/er/.git/hooks; echo evil > sub/.vscode/tasks.json;"
        "echo evil > deep/er/.git/hooks/pre-commit; chmod 500 deep/er/.git; ln -s /etc/passwd .bashrc; echo fine > fine"
    )
    assert await bench.planted() == [".bashrc", ".envrc", "deep/er/.git", "sub/.vscode"]
    left = sorted(str(path.relative_to(bench.project)) for path in bench.project.rglob("*"))
    assert left == ["deep", "deep/er", "fine", "sub"]


async def test_a_checkpoint_from_meanwhile_brings_back_nothing_that_was_planted(bench: Guarded, tmp_path: Path) -> None:
    (bench.project / "AGENTS.md").write_text("mine", "utf-8")
    (bench.project / ".vscode").mkdir()
    (bench.project / ".vscode" / "tasks.json").write_text("mine", "utf-8")
    await bench.output("echo evil > .envrc; mkdir -p sub/.vscode; echo evil > sub/.vscode/tasks.json; echo fine > fine")
    store = ContentStore(tmp_path / "store", bytes(32))
    with closing(FolderCheckpoints(store, planted=QuarantineFolder(bench.home).planted)) as checkpoints:
        tree = await checkpoints.take(str(bench.project), (), quiet)
        assert await bench.planted() == [".envrc", "sub/.vscode"]
        fork = tmp_path / "fork"
        fork.mkdir()
        for folder in (bench.project, fork):
            restored = await checkpoints.restore(str(folder), (), tree.root)
            assert restored.failed == ()
            left = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
            assert left == [".vscode", ".vscode/tasks.json", "AGENTS.md", "fine", "sub"]


async def test_what_was_moved_out_can_be_put_back_or_removed(bench: Guarded) -> None:
    await bench.output("echo 1 > .envrc; mkdir -p a/.vscode; echo 2 > a/.vscode/x")
    await bench.planted()
    envrc, vscode = sorted(await bench.desk.quarantined(), key=lambda row: row.path)
    assert (await bench.desk.settle_quarantined(envrc.id, restore=True)).path == ".envrc"
    assert (bench.project / ".envrc").read_text() == "1\n"
    (bench.project / "a/.vscode").mkdir()
    with pytest.raises(Conflict, match="another"):
        await bench.desk.settle_quarantined(vscode.id, restore=True)
    await bench.desk.settle_quarantined(vscode.id, restore=False)
    assert not os.path.lexists(vscode.kept) and await bench.desk.quarantined() == ()
    with pytest.raises(NotFound):
        await bench.desk.settle_quarantined(vscode.id, restore=True)


async def test_putting_back_follows_no_link_that_took_the_folders_place(bench: Guarded, tmp_path: Path) -> None:
    await bench.output("mkdir a; echo 1 > a/.envrc")
    await bench.planted()
    (row,) = await bench.desk.quarantined()
    (tmp_path / "elsewhere").mkdir()
    (bench.project / "a").rmdir()
    (bench.project / "a").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Conflict, match="cannot be put back"):
        await bench.desk.settle_quarantined(row.id, restore=True)
    assert os.listdir(tmp_path / "elsewhere") == []


async def test_a_released_path_can_be_written_and_stays(bench: Guarded) -> None:
    (bench.project / "AGENTS.md").write_text("mine\n")
    bench.release("AGENTS.md", ".github/workflows")
    await bench.output(
        "echo ours >> AGENTS.md; mkdir -p .github/workflows; echo ci > .github/workflows/ci.yml; echo x > .envrc"
    )
    assert await bench.planted() == [".envrc"]
    assert (bench.project / "AGENTS.md").read_text() == "mine\nours\n"
    assert (bench.project / ".github/workflows/ci.yml").exists()


@pytest.mark.skipif(not shutil.which("git", path="/usr/bin"), reason="git is not under /usr")
async def test_with_git_released_a_commit_can_be_made(bench: Guarded) -> None:
    bench.release(".git")
    await bench.output(
        "git init -q; git config user.email a@example.com; git config user.name Ada; echo 1 > a; git add a;"
        "git commit -qm One"
    )
    assert await bench.planted() == [] and (bench.project / ".git/HEAD").exists()


async def test_a_link_is_put_back_and_what_it_leads_to_is_protected(bench: Guarded) -> None:
    (bench.project / "docs").mkdir()
    (bench.project / "docs/agents.md").write_text("mine\n")
    (bench.project / "CLAUDE.md").symlink_to("docs/agents.md")
    assert (await bench.run("echo evil > docs/agents.md")).exit_code != 0
    assert (await bench.run("echo evil >> CLAUDE.md")).exit_code != 0
    await bench.output("rm CLAUDE.md; echo evil > CLAUDE.md")
    assert await bench.planted() == ["CLAUDE.md"]
    assert os.readlink(bench.project / "CLAUDE.md") == "docs/agents.md"
    assert (bench.project / "docs/agents.md").read_text() == "mine\n"


async def test_after_a_crash_of_the_daemon_the_next_one_sweeps_up(bench: Guarded) -> None:
    await bench.output("echo evil > .envrc")
    slot = bench.machines._slots.pop(SESSION)  # the daemon dies: nobody is left who knows of the machine
    machine = slot.machine()
    assert machine is not None
    machine._on_end = lambda _why: None
    machine.kill("the daemon is gone")
    await machine.gone()
    assert (bench.project / ".envrc").exists()
    await bench.another().sweep_left()
    assert [row.path for row in bench.swept[0][1].moved] == [".envrc"] and bench.swept[0][0] == SESSION
    assert not (bench.project / ".envrc").exists()
    await bench.another().sweep_left()
    assert len(bench.swept) == 1


async def test_files_that_were_there_are_left_alone_even_when_the_person_moves_or_replaces_them(bench: Guarded) -> None:
    (bench.project / "a").mkdir()
    (bench.project / "a/.envrc").write_text("mine\n")
    (bench.project / "AGENTS.md").write_text("mine\n")
    await bench.output("true")
    (bench.project / "a").rename(bench.project / "b")
    (bench.project / "new").write_text("better\n")
    (bench.project / "new").rename(bench.project / "AGENTS.md")
    assert await bench.planted() == []
    assert (bench.project / "b/.envrc").read_text() == "mine\n"
    assert (bench.project / "AGENTS.md").read_text() == "better\n"
    assert bench.swept[0][1].changed == ("AGENTS.md",)


async def test_a_repository_that_the_person_makes_meanwhile_is_theirs(bench: Guarded) -> None:
    await bench.output("true")
    (bench.project / ".git/hooks").mkdir(parents=True)
    assert await bench.planted() == [] and (bench.project / ".git/hooks").is_dir()


async def test_a_sweep_follows_no_link_that_another_session_swaps_in(bench: Guarded, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".envrc").write_text("not of this folder\n")
    await bench.output("mkdir sub; ln -s /nowhere link")
    (bench.project / "sub").rmdir()
    (bench.project / "sub").symlink_to(elsewhere)
    assert await bench.planted() == []
    assert (elsewhere / ".envrc").exists()


async def test_a_folder_that_was_swapped_after_the_look_is_not_shown(bench: Guarded, tmp_path: Path) -> None:
    """Between the look and the mounts another session may put a link where a protected file's folder was."""
    (bench.project / "sub").mkdir()
    (bench.project / "sub/.envrc").write_text("mine\n")
    found = scan(str(bench.project))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/.envrc").write_text("canary\n")
    (bench.project / "sub/.envrc").unlink()
    (bench.project / "sub").rmdir()
    (bench.project / "sub").symlink_to(tmp_path / "elsewhere")
    binding = Binding(str(bench.project), writable=True)
    with pytest.raises(MachineUnavailable, match=r"changed while|did not come up"):
        await start_machine(this_host(), binding, found, Limits(), lambda _why: None)


async def test_more_protected_files_than_can_be_mounted_are_refused(bench: Guarded) -> None:
    for number in range(300):
        (bench.project / f"d{number}").mkdir()
        (bench.project / f"d{number}/AGENTS.md").touch()
    with pytest.raises(MachineUnavailable, match="300 protected files"):
        await bench.run("true")
    (bench.project / "node_modules").mkdir()
    for number in range(300):
        (bench.project / f"d{number}").rename(bench.project / f"node_modules/d{number}")
    await bench.output("true")


async def test_two_machines_over_one_folder_keep_their_own_lists(bench: Guarded) -> None:
    bench.bind(session=OTHER)
    await bench.output("echo evil > .envrc")
    await bench.machines.run(live_permit(OTHER), "true", timeout_s=9, cap_bytes=99, on_output=lambda _: None)
    assert await bench.planted() == [".envrc"]
    await bench.machines.kill(OTHER)
    assert [row.path for _, swept in bench.swept for row in swept.moved] == [".envrc"]
