"""Everything that a session changes waits until the person has looked at it: trial mode, and after strangers' texts."""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stead.domain.errors import Conflict, MachineUnavailable, NotFound, ToolFault
from stead.domain.trials import Applied, Change, Choice
from stead.machines.held_changes import HeldChanges
from stead.machines.sandbox import Limits
from stead.machines.space import Space
from tests.machines.bench import SESSION, Bench, require_sandbox


class Waiting(Bench):
    """A bench over a folder with files, where everything waits."""

    def __init__(self, root: Path, limits: Limits | None = None) -> None:
        super().__init__(root, limits)
        self.bind(hold="all")
        (self.project / "kept").write_text("as it was\n")
        (self.project / "old").write_text("one\ntwo\nthree\n")
        (self.project / "folder").mkdir()
        (self.project / "folder/inner").write_text("inner\n")

    async def found(self) -> dict[str, Change]:
        found = await self.waiting()
        assert found, "nothing waits"
        return found

    async def apply(self, *paths: str, force: bool = False, include_protected: bool = False) -> Applied:
        choice = Choice(paths, force=force, include_protected=include_protected)
        return await self.held_changes.apply_trial(SESSION, choice)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Waiting]:
    require_sandbox()
    opened = Waiting(tmp_path)
    yield opened
    await opened.machines.close()


async def test_nothing_of_the_folder_changes_and_the_machine_sees_its_own_changes(bench: Waiting) -> None:
    before = bench.tree()
    await bench.output("echo new > fresh; sed -i s/two/2/ old; rm -r folder; mkdir .git; ln -s old link")
    assert await bench.output("cat fresh old; ls -A") == "new\none\n2\nthree\n.git\nfresh\nkept\nlink\nold\n"
    assert bench.tree() == before


async def test_changes_outlive_the_machine_and_another_daemon(bench: Waiting, tmp_path: Path) -> None:
    await bench.output("echo new > fresh")
    await bench.machines.kill(SESSION)
    assert await bench.output("cat fresh") == "new\n"
    await bench.machines.close()
    again = HeldChanges(bench.home, bench.machines.kill)
    assert [change.path for change in (await again.trial(SESSION)).changes] == ["fresh"]


async def test_every_kind_of_change_is_told_with_its_diff(bench: Waiting) -> None:
    await bench.output(
        "echo new > fresh; sed -i s/two/2/ old; rm -r folder; chmod 755 kept; ln -s old link; mkdir -p empty/inside;"
        "head -c 3 /dev/zero > binary; printf '#!/bin/sh\\n' > program; chmod +x program; touch old"
    )
    found = await bench.found()
    assert {path: (change.kind, change.what) for path, change in found.items()} == {
        "binary": ("added", "file"),
        "empty/inside": ("added", "folder"),
        "folder": ("deleted", "folder"),
        "folder/inner": ("deleted", "file"),
        "fresh": ("added", "file"),
        "kept": ("mode", "file"),
        "link": ("added", "link"),
        "old": ("changed", "file"),
        "program": ("added", "file"),
    }
    assert "-two" in found["old"].diff and "+2" in found["old"].diff
    assert found["fresh"].diff.endswith("+new")
    assert found["kept"].note == "0644 → 0755" and found["link"].note == "leads to old"
    assert "binary" in found["binary"].note and found["program"].note == "can be run"
    assert {change.held for change in found.values()} == {""}


async def test_what_is_applied_is_what_the_machine_saw(bench: Waiting) -> None:
    await bench.output(
        "echo new > fresh; sed -i s/two/2/ old; rm -r folder; mkdir folder; echo b > folder/b; chmod 700 kept;"
        "mkdir -p a/b/c; echo d > a/b/c/d; ln -s a/b link; rm kept; mkdir kept; echo x > kept/x"
    )
    inside = await bench.output("find . -type f -printf '%P %m ' -exec cat {} ';' | sort")
    await bench.machines.kill(SESSION)
    applied = await bench.apply()
    assert applied.held == () and not applied.left
    assert not Space(bench.home, SESSION, str(bench.project)).root.exists()
    bench.bind(writable=False)
    assert await bench.output("find . -type f -printf '%P %m ' -exec cat {} ';' | sort") == inside
    assert bench.tree()["link"] == "-> a/b" and (bench.project / "a").stat().st_mode & 0o777 == 0o755
    assert {path.stat().st_uid for path in bench.project.rglob("*")} == {os.geteuid()}
    with pytest.raises(NotFound, match="no changes"):
        await bench.held_changes.trial(SESSION)


async def test_a_part_can_be_applied_and_the_rest_stays_on_trial(bench: Waiting) -> None:
    await bench.output("mkdir d; echo 1 > d/one; echo 2 > d/two; echo 3 > three; rm old")
    await bench.machines.kill(SESSION)
    with pytest.raises(NotFound, match="nowhere"):
        await bench.apply("nowhere")
    assert (await bench.apply("d/one", "old")).left
    assert bench.tree()["d/one"] == "1\n" and "d/two" not in bench.tree() and "old" not in bench.tree()
    assert set(await bench.found()) == {"d/two", "three"}
    assert await bench.output("cat d/one d/two three; ls -A") == "1\n2\n3\nd\nfolder\nkept\nthree\n"
    await bench.output("echo more >> d/one")
    assert (await bench.found())["d/one"].held == ""
    assert not (await bench.apply()).left
    assert bench.tree()["d/one"] == "1\nmore\n"


async def test_a_file_that_the_person_changed_meanwhile_is_not_replaced(bench: Waiting) -> None:
    await bench.output("echo theirs > old; rm kept; echo theirs > both; echo fine > fine")
    await bench.machines.kill(SESSION)
    (bench.project / "old").write_text("mine\n")
    (bench.project / "kept").write_text("mine\n")
    (bench.project / "both").write_text("mine\n")
    await bench.output("sed -i s/theirs/again/ old")  # however often the machine rewrites it
    found = await bench.found()
    assert {path: change.held for path, change in found.items()} == {
        "both": "conflict",
        "fine": "",
        "kept": "conflict",
        "old": "conflict",
    }
    applied = await bench.apply()
    assert applied.done == ("fine",) and {held.path for held in applied.held} == {"both", "kept", "old"}
    assert "you changed yours since" in applied.held[0].why and applied.left
    assert bench.tree()["old"] == "mine\n"
    assert (await bench.apply("old", force=True)).done == ("old",)
    assert bench.tree()["old"] == "again\n" and bench.tree()["kept"] == "mine\n"


async def test_a_file_that_the_person_deleted_meanwhile_is_told_as_a_new_one(bench: Waiting) -> None:
    await bench.output("chmod 600 old; echo more >> old")
    (bench.project / "old").unlink()
    assert (await bench.found())["old"].kind == "added"
    assert "old" not in bench.tree()


async def test_protected_files_are_applied_only_when_they_are_included(bench: Waiting) -> None:
    landing = await bench.landing(
        "git init -q . 2>/dev/null || mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; echo e > .envrc;"
        "mkdir -p sub/.vscode .github/workflows; echo e > sub/.vscode/tasks.json; echo e > .github/workflows/ci.yml;"
        "ln -s /etc/passwd out; ln -s ../../up up; ln -s folder/inner within; echo fine > fine"
    )
    assert {one.path for one in landing.refused} == {"out", "up"}
    found = await bench.found()
    held = {path for path, change in found.items() if change.held == "protected"}
    assert {".git/hooks/pre-commit", ".envrc", "sub/.vscode/tasks.json", ".github/workflows/ci.yml"} <= held
    assert found["within"].held == found["fine"].held == "" and not {"out", "up"} & set(found)
    applied = await bench.apply()
    assert set(applied.done) == {"fine", "within"}
    assert not (bench.project / ".git").exists() and not (bench.project / "out").is_symlink()
    assert (await bench.apply(".envrc", include_protected=True)).done == (".envrc",)
    assert (bench.project / ".envrc").read_text() == "e\n"


async def test_hostile_shapes_are_refused_and_never_carried_over(bench: Waiting) -> None:
    script = """
import os, socket
os.mkfifo("pipe"); socket.socket(socket.AF_UNIX).bind("socket")
open("setuid", "w").close()
open(b"bytes-\\xff", "w").close(); open("line\\nbreak", "w").close()
os.mkdir("closed"); open("closed/in", "w").close(); os.chmod("closed", 0)
deep = "deep"
os.mkdir(deep); os.chdir(deep)
for _ in range(300): os.mkdir("d"); os.chdir("d")
"""
    (bench.project / "shapes.py").write_text(script)
    landing = await bench.landing("python3 shapes.py")
    refused = {one.path: one.why for one in landing.refused}
    assert {"pipe", "socket", "bytes-\\udcff", "line\\nbreak"} <= set(refused)
    assert [why for path, why in refused.items() if path.startswith("deep/")] == [
        "it is nested too deep, or not of this machine's making"
    ]
    (Space(bench.home, SESSION).pending / "setuid").chmod(0o4755)  # which no machine can do
    assert (await bench.found())["setuid"].held == "impossible"
    before = set(bench.tree())
    await bench.apply(force=True, include_protected=True)
    assert not {"setuid", "pipe", "socket"} & set(bench.tree())
    assert {path for path in set(bench.tree()) - before if not path.startswith("deep")} <= {"closed", "closed/in"}
    assert await bench.held_changes.discard_trial(SESSION) > 0
    assert not Space(bench.home, SESSION, str(bench.project)).root.exists()


async def test_discarding_leaves_nothing_of_it_and_nothing_of_the_folder_changes(bench: Waiting) -> None:
    before = bench.tree()
    await bench.output("echo new > fresh; rm old; mkdir -m 0 closed")
    assert await bench.held_changes.discard_trial(SESSION) == 3
    with pytest.raises(NotFound, match="no changes"):
        await bench.held_changes.discard_trial(SESSION)
    assert bench.tree() == before and not Space(bench.home, SESSION, str(bench.project)).root.exists()
    assert await bench.output("ls") == "folder\nkept\nold\n"


async def test_a_link_that_replaces_a_folder_leads_the_daemon_nowhere(bench: Waiting, tmp_path: Path) -> None:
    """Hostile links on either side, swapped in after the trial's machine ended: by another session, say."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "inner").write_text("untouched\n")
    await bench.output("echo planted > folder/inner; echo planted > folder/new; rm -rf kept")
    await bench.machines.kill(SESSION)
    (bench.project / "folder/inner").unlink()
    (bench.project / "folder").rmdir()
    (bench.project / "folder").symlink_to(elsewhere)
    await bench.apply(force=True, include_protected=True)
    assert {path.name: path.read_text() for path in elsewhere.iterdir()} == {"inner": "untouched\n"}
    if await bench.waiting():
        await bench.apply(force=True)
        assert sorted(os.listdir(elsewhere)) == ["inner"]


async def test_a_host_that_cannot_lay_one_folder_over_another_refuses(bench: Waiting) -> None:
    space = Space(bench.home, SESSION, str(bench.project))
    space.prepare()
    space.jobs.rmdir()
    space.jobs.write_text("no folder")
    ran = None
    with pytest.raises((ToolFault, MachineUnavailable)):
        ran = await bench.run("echo planted > planted")
    assert ran is None and "planted" not in bench.tree()


async def test_limits_hold_for_what_waits_too(tmp_path: Path) -> None:
    require_sandbox()
    bench = Waiting(tmp_path, Limits(file_bytes=64 << 20))
    ran = await bench.run("head -c 100M /dev/zero > big; stat -c %s big; df --output=source,avail . | tail -1")
    await bench.machines.close()
    assert f"{64 << 20}\n" in ran.output
    pending = Space(bench.home, SESSION).pending
    assert stat.S_ISREG((pending / "big").stat().st_mode)
    free = int(ran.output.split()[-1]) << 10
    assert abs(free - os.statvfs(pending).f_bavail * os.statvfs(pending).f_frsize) < 1 << 30


async def test_what_fills_the_disk_is_stopped_on_trial_too(tmp_path: Path) -> None:
    """The changes lie on the disk of Stead's home, and that is the one that counts."""
    require_sandbox()
    free = os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize
    bench = Waiting(tmp_path, Limits(disk_bytes=free - (64 << 20)))
    try:
        ran = await bench.run(
            "for n in 1 2 3 4 5 6 7 8; do head -c 50M /dev/zero > fill$n; sync fill$n; sleep 0.3; done"
        )
        assert "the disk is nearly full" in ran.output
    finally:
        await bench.machines.close()


async def test_the_folder_and_the_machine_are_of_one_owner_and_foreign_files_say_so(bench: Waiting) -> None:
    """Trap 5: a file of somebody else's cannot be copied up; it is refused, not lost."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to somebody else")
    (bench.project / "foreign").write_text("theirs\n")
    (bench.project / "foreign").chmod(0o666)
    os.chown(bench.project / "foreign", 4242, 4242)
    ran = await bench.run("echo more >> foreign; cat foreign; rm foreign")
    assert "theirs" in ran.output
    assert (bench.project / "foreign").read_text() == "theirs\n"


async def test_too_many_changes_are_refused_and_can_be_thrown_away(bench: Waiting) -> None:
    await bench.output("mkdir many; cd many; seq 20100 | xargs touch")
    with pytest.raises(Conflict, match="more than 20000 changes"):
        await bench.found()
    assert await bench.held_changes.discard_trial(SESSION) == 0
    assert not Space(bench.home, SESSION, str(bench.project)).root.exists()
