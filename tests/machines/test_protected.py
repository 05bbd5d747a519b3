"""Files that a person's programs act on: what a machine makes of them waits, and the person's own stay as they are."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from stead.domain.ids import SessionId
from stead.domain.trials import Choice
from stead.machines.bubblewrap import BubblewrapMachines
from stead.machines.checkpoints import FolderCheckpoints
from stead.machines.space import Space
from stead.storage.contents import ContentStore
from tests.machines.bench import SESSION, Bench, live_permit, this_host
from tests.machines.folders import digest, quiet
from tests.promises import promise

OTHER = SessionId("s_fedcba9876543210")
MINE = (
    "AGENTS.md",
    ".vscode/tasks.json",
    "lib/part/.git/hooks/sample",
    "lib/part/CLAUDE.md",
    ".github/workflows/ci.yml",
)
ATTACKS = (
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
    "rm AGENTS.md; ln -s /dev/null AGENTS.md",
    "chmod 777 AGENTS.md",
    "rm -r .vscode; echo evil > .vscode",
)


@pytest.mark.parametrize("attack", ATTACKS)
async def test_the_persons_own_stay_as_they_are_whatever_is_done_to_them(bench: Bench, attack: str) -> None:
    for path in MINE:
        (bench.project / path).parent.mkdir(parents=True, exist_ok=True)
        (bench.project / path).write_text("mine\n")
    before = {path: (bench.project / path).stat() for path in MINE}
    landing = await bench.landing(attack)
    assert landing.held or [one.path for one in landing.refused] == ["AGENTS.md"]
    for path in MINE:
        now = (bench.project / path).stat()
        assert (bench.project / path).read_text() == "mine\n"
        assert (now.st_mode, now.st_ino) == (before[path].st_mode, before[path].st_ino)
    for planted in (".vscode/settings.json", "lib/part/.git/hooks/pre-commit", ".github/workflows/new.yml"):
        assert not (bench.project / planted).exists()


@promise("SEC-5.protected")
async def test_what_is_planted_waits_is_told_and_is_seen_by_later_commands(bench: Bench) -> None:
    landing = await bench.landing(
        "echo evil > .envrc; mkdir -p sub/.vscode deep/er/.git/hooks; echo evil > sub/.vscode/tasks.json;"
        "echo evil > deep/er/.git/hooks/pre-commit; chmod 500 deep/er/.git; echo evil > .bashrc; echo fine > fine"
    )
    planted = [".bashrc", ".envrc", "deep/er/.git/hooks/pre-commit", "sub/.vscode/tasks.json"]
    assert sorted(one.path for one in landing.held) == planted and "fine" in landing.landed
    assert bench.tree() == {"deep": "/", "deep/er": "/", "fine": "fine\n", "sub": "/"}
    assert await bench.output(f"cat {' '.join(planted)}") == "evil\n" * 4
    assert list(await bench.waiting()) == planted
    assert await bench.output(f"cat {' '.join(planted)}") == "evil\n" * 4  # in the next machine too


async def test_a_checkpoint_from_meanwhile_brings_back_nothing_that_was_planted(bench: Bench, tmp_path: Path) -> None:
    (bench.project / "AGENTS.md").write_text("mine", "utf-8")
    await bench.output("echo evil > .envrc; mkdir -p sub/.vscode; echo evil > sub/.vscode/tasks.json; echo fine > fine")
    with closing(FolderCheckpoints(ContentStore(tmp_path / "store", bytes(32)))) as checkpoints:
        tree = await checkpoints.take(str(bench.project), (), quiet)
        (tmp_path / "fork").mkdir()
        for folder in (bench.project, tmp_path / "fork"):
            assert (await checkpoints.restore(str(folder), (), tree.root)).failed == ()
            assert not list(folder.rglob(".envrc")) and not list(folder.rglob("tasks.json"))
            assert (folder / "fine").read_text() == "fine\n" and (folder / "AGENTS.md").read_text() == "mine"


async def test_a_link_of_an_obeyed_name_stays_as_it_is(bench: Bench) -> None:
    (bench.project / "docs").mkdir()
    (bench.project / "docs/house.md").write_text("mine\n")
    (bench.project / "CLAUDE.md").symlink_to("docs/house.md")
    landing = await bench.landing("rm CLAUDE.md; echo evil > CLAUDE.md")
    assert [one.path for one in landing.held] == ["CLAUDE.md"]
    assert os.readlink(bench.project / "CLAUDE.md") == "docs/house.md"
    assert (bench.project / "docs/house.md").read_text() == "mine\n"


@pytest.mark.parametrize("write", ["echo evil > docs/house.md", "echo evil >> CLAUDE.md", "mv docs away", "rm -r docs"])
async def test_what_a_link_of_an_obeyed_name_leads_to_is_obeyed_too(bench: Bench, write: str) -> None:
    (bench.project / "docs").mkdir()
    (bench.project / "docs/house.md").write_text("mine\n")
    (bench.project / "CLAUDE.md").symlink_to("docs/house.md")
    landing = await bench.landing(write)
    assert "docs/house.md" in [one.path for one in landing.held]
    assert (bench.project / "docs/house.md").read_text() == "mine\n"


async def test_after_a_crash_of_the_daemon_what_was_under_way_waits_for_the_person(bench: Bench) -> None:
    await bench.output("echo before > before")
    job = bench.machines.transactions.begin(SESSION)  # a call is under way when the daemon dies
    machine = bench.machines._slots[SESSION].machine()
    assert machine is not None
    await machine.call(
        "run", job.encode(), b"echo evil > .envrc; echo plain > plain; rm before", b"9000", b"99", limit_s=9
    )
    machine._on_end = lambda _why: None
    machine.kill("the daemon is gone")
    await machine.gone()
    del bench.machines._slots[SESSION]
    assert list(bench.tree()) == ["before"]
    (bench.project / ".stead-0123456789abcdef.restoring").write_text("half of what was lan")  # a landing was cut off
    again = BubblewrapMachines(bench.home, host=this_host())
    await again.transactions.take_up_left()
    assert list(bench.tree()) == ["before"]
    found = (await bench.held_changes.trial(SESSION)).changes
    assert [(one.path, one.held) for one in found] == [(".envrc", "protected"), ("before", ""), ("plain", "")]
    await again.transactions.take_up_left()
    assert (await bench.held_changes.trial(SESSION)).changes == found
    assert Space(bench.home, SESSION).left() == []


async def test_a_place_for_changes_whose_making_a_crash_cut_off_is_no_obstacle_at_the_next_start(bench: Bench) -> None:
    half = bench.home.root / "trials" / "s_0123456789abcdef"
    (half / "layers" / "pending").mkdir(parents=True)
    await bench.machines.transactions.take_up_left()
    assert not half.exists()


async def test_files_that_the_person_moves_or_replaces_meanwhile_are_theirs(bench: Bench) -> None:
    (bench.project / "a").mkdir()
    (bench.project / "a/.envrc").write_text("mine\n")
    (bench.project / "AGENTS.md").write_text("mine\n")
    await bench.output("true")
    (bench.project / "a").rename(bench.project / "b")
    (bench.project / "new").write_text("better\n")
    (bench.project / "new").rename(bench.project / "AGENTS.md")
    (bench.project / ".git/hooks").mkdir(parents=True)
    assert await bench.output("cat b/.envrc AGENTS.md; ls -d .git/hooks; test ! -e a") == "mine\nbetter\n.git/hooks\n"
    assert await bench.waiting() == {}
    assert bench.tree()["b/.envrc"] == "mine\n" and bench.tree()["AGENTS.md"] == "better\n"


async def test_a_link_that_another_session_swaps_in_leads_a_landing_nowhere(bench: Bench, tmp_path: Path) -> None:
    """Between a command's look and its landing the person, or another session, puts a link where a folder was."""
    (tmp_path / "elsewhere").mkdir()
    (bench.project / "sub").mkdir()

    def swap(_text: str) -> None:
        (bench.project / "sub").rmdir()
        (bench.project / "sub").symlink_to(tmp_path / "elsewhere")

    ran = await bench.run("echo planted > sub/f; echo .; sleep 0.3; echo fine > fine", on_output=swap)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert bench.tree()["sub"] == f"-> {tmp_path / 'elsewhere'}"
    assert ran.landing.held or ran.landing.failed
    assert bench.tree()["fine"] == "fine\n"


async def test_two_machines_over_one_folder_have_changes_of_their_own(bench: Bench) -> None:
    bench.bind(session=OTHER)
    await bench.output("echo evil > .envrc; echo fine > fine")
    permit = live_permit(OTHER)
    ran = await bench.machines.run(permit, "ls -A", timeout_s=9, cap_bytes=99, on_output=lambda _: None)
    assert ran.output == "fine\n"
    assert list(await bench.waiting()) == [".envrc"] and await bench.waiting(OTHER) == {}
    applied = await bench.held_changes.apply_trial(SESSION, Choice((".envrc",), include_protected=True))
    assert applied.done == (".envrc",) and not applied.left


async def test_a_machine_starts_in_a_folder_of_any_shape_and_looks_at_none_of_it(bench: Bench) -> None:
    """What was refused before: more obeyed files than can be mounted, and what is nested too deep to be walked."""
    for number in range(300):
        (bench.project / f"d{number}").mkdir()
        (bench.project / f"d{number}/AGENTS.md").touch()
    (bench.project / "/".join(["deep"] * 200)).mkdir(parents=True)
    before = digest(bench.project)
    landing = await bench.landing("for d in d[0-9]*; do echo evil > $d/AGENTS.md; done")
    assert landing.holding == 300 and {one.path for one in landing.held} <= {f"d{n}/AGENTS.md" for n in range(300)}
    assert digest(bench.project) == before
