"""What a machine changes reaches the person's folder by landing alone: at once, held, kept in the machine, or never."""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stead.domain.errors import MachineUnavailable, NotFound
from stead.domain.ids import SessionId
from stead.domain.trials import Choice, Landing
from stead.machines.held_changes import HeldChanges
from tests.machines.bench import SESSION, Bench, live_permit, open_bench, until

OTHER = SessionId("s_fedcba9876543210")


@pytest.fixture(params=["overlay", "copy"])
async def bench(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Bench]:
    async with open_bench(tmp_path, copies=request.param == "copy") as opened:
        yield opened


async def landed(bench: Bench, command: str) -> Landing:
    ran = await bench.run(command)
    assert ran.exit_code == 0, ran.output
    return ran.landing


def held(landing: Landing) -> list[str]:
    return [one.path for one in landing.held]


def held_changes(bench: Bench) -> HeldChanges:
    return HeldChanges(bench.home, bench.machines.kill)


async def test_plain_files_folders_links_and_deletions_land_with_the_call(bench: Bench) -> None:
    (bench.project / "old").write_text("old")
    landing = await landed(
        bench, "mkdir -p a/b; echo new > a/b/f; ln -s b/f a/link; rm old; echo run > tool; chmod +x tool"
    )
    assert (bench.project / "a/b/f").read_text() == "new\n"
    assert os.readlink(bench.project / "a/link") == "b/f"
    assert not (bench.project / "old").exists()
    assert landing.landed == ("old", "a/", "a/b/", "a/b/f", "a/link", "tool") and landing.count == 6
    assert landing.runnable == ("tool",) and not landing.held and not landing.refused and landing.holding == 0
    assert os.access(bench.project / "tool", os.X_OK)
    owner = os.stat(bench.project)
    assert (os.stat(bench.project / "a/b/f").st_uid, os.stat(bench.project / "a/b/f").st_gid) == (
        owner.st_uid,
        owner.st_gid,
    )
    assert os.listxattr(bench.project / "a/b/f") == []


async def test_the_next_command_sees_what_the_last_one_landed_and_what_the_person_did(bench: Bench) -> None:
    await landed(bench, "echo one > f")
    (bench.project / "f").write_text("two\n")
    (bench.project / "g").write_text("mine\n")
    assert await bench.output("cat f g; rm g; mkdir g; echo x > g/x") == "two\nmine\n"
    assert (bench.project / "g/x").read_text() == "x\n"


async def test_what_programs_obey_is_held_and_seen_by_later_commands(bench: Bench) -> None:
    landing = await landed(
        bench, "mkdir -p .githooks sub/.vscode; echo evil > .githooks/pre-commit; echo {} > sub/.vscode/tasks.json"
    )
    assert held(landing) == [".githooks/pre-commit", "sub/.vscode/tasks.json"] and landing.holding == 2
    assert not list(bench.project.rglob("pre-commit")) and not list(bench.project.rglob("tasks.json"))
    assert await bench.output("cat .githooks/pre-commit; echo more >> .githooks/pre-commit") == "evil\n"
    assert await bench.output("cat .githooks/pre-commit") == "evil\nmore\n"
    trial = await held_changes(bench).trial(SESSION)
    assert [(one.path, one.held) for one in trial.changes] == [
        (".githooks/pre-commit", "protected"),
        ("sub/.vscode/tasks.json", "protected"),
    ]
    applied = await held_changes(bench).apply_trial(
        SESSION, Choice(paths=(".githooks/pre-commit",), include_protected=True)
    )
    assert applied.done == (".githooks/pre-commit",) and applied.left
    assert (bench.project / ".githooks/pre-commit").read_text() == "evil\nmore\n"
    assert await held_changes(bench).discard_trial(SESSION) == 1
    assert not (bench.project / "sub/.vscode").exists()


async def test_set_id_bits_devices_sockets_and_links_out_never_land(bench: Bench) -> None:
    landing = await landed(
        bench,
        "mkfifo pipe; ln -s /etc/passwd out; ln -s ../.. up; echo plain > plain; "
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'",
    )
    assert {one.path for one in landing.refused} == {"pipe", "out", "up", "sock"}
    assert sorted(path.name for path in bench.project.iterdir()) == ["plain"]
    assert await bench.output("ls") == "plain\n"


async def test_what_tools_make_anew_stays_and_lasts(bench: Bench) -> None:
    landing = await landed(
        bench,
        "mkdir -p app/node_modules/x; echo 1 > app/node_modules/x/i.js; echo {} > app/package.json; "
        "python3 -m venv --without-pip env; mkdir target; "
        "echo 'Signature: 8a477f597d28d172789f06886806bc55' > target/CACHEDIR.TAG; echo o > target/o",
    )
    assert landing.stayed == 3 and not landing.held
    assert sorted(str(path.relative_to(bench.project)) for path in bench.project.rglob("*")) == [
        "app",
        "app/package.json",
    ]
    await bench.machines.kill(SESSION)
    assert (
        await bench.output("cat app/node_modules/x/i.js target/o; ls env/pyvenv.cfg; echo 2 > target/p")
        == "1\no\nenv/pyvenv.cfg\n"
    )
    bench.bind(session=OTHER)
    ran = await bench.machines.run(
        live_permit(OTHER), "cat target/p; rm -r target; ls", timeout_s=20, cap_bytes=1000, on_output=lambda _: None
    )
    assert ran.output == "2\napp\nenv\n"
    assert not (bench.project / "target").exists()
    assert await bench.output("ls") == "app\nenv\n"


async def test_a_person_s_own_packages_are_not_touched(bench: Bench) -> None:
    (bench.project / "node_modules/x").mkdir(parents=True)
    (bench.project / "node_modules/x/i.js").write_text("theirs")
    assert await bench.output("echo mine > node_modules/x/i.js; rm -rf node_modules/y") == ""
    assert (bench.project / "node_modules/x/i.js").read_text() == "theirs"
    assert await bench.output("cat node_modules/x/i.js; rm -r node_modules") == "mine\n"
    assert await bench.output("ls -A") == ""
    assert (bench.project / "node_modules/x/i.js").read_text() == "theirs"


async def test_what_the_person_changed_meanwhile_is_kept_and_ours_is_held(bench: Bench) -> None:
    (bench.project / "f").write_text("base\n")
    reading, writing = os.pipe()
    os.close(writing)
    os.close(reading)

    def meanwhile(text: str) -> None:
        (bench.project / "f").write_text("theirs\n")

    landing = (await bench.run("echo ours > f; echo go; sleep 0.3", on_output=meanwhile)).landing
    assert (bench.project / "f").read_text() == "theirs\n"
    assert [one.path for one in landing.held] == ["f"] and "both are kept" in landing.held[0].why
    (change,) = (await held_changes(bench).trial(SESSION)).changes
    assert change.held == "conflict" and "+ours" in change.diff
    assert (await held_changes(bench).apply_trial(SESSION, Choice(force=True))).done == ("f",)
    assert (bench.project / "f").read_text() == "ours\n"


async def test_held_whole_is_what_trial_is(bench: Bench) -> None:
    bench.machines.bind(SESSION, str(bench.project), writable=True, hold="all")
    landing = await landed(bench, "echo a > a; mkdir d; echo b > d/b")
    assert list(bench.project.iterdir()) == [] and landing.holding == 2
    bench.bind()
    landing = await landed(bench, "echo c > c; cat a d/b")
    assert list(bench.project.iterdir()) == []  # what waits waits, whatever comes later
    assert landing.holding == 3
    applied = await held_changes(bench).apply_trial(SESSION, Choice())
    assert set(applied.done) == {"a", "d/b", "c"} and not applied.left
    assert (bench.project / "d/b").read_text() == "b\n"
    assert (await landed(bench, "echo z > z")).landed == ("z",)


async def test_what_lives_on_lands_too_and_does_not_undo_what_came_later(bench: Bench) -> None:
    await lives_on(bench, "/tmp/stop")


async def test_what_lives_on_over_an_overlay_sees_what_lands_meanwhile(tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        await lives_on(bench, "stop")


async def lives_on(bench: Bench, stop: str) -> None:
    landing = await landed(
        bench,
        f"echo first > log; (until [ -e {stop} ]; do sleep 0.02; done; echo last >> other; touch over) >&- 2>&- & echo",
    )
    assert landing.open and (bench.project / "log").read_text() == "first\n"
    await landed(bench, "echo edited > log")
    assert (await landed(bench, f"touch {stop} seen")).count >= 1
    await bench.until_output("ls over 2>&1 || true", "over\n")
    assert (bench.project / "log").read_text() == "edited\n"
    await landed(bench, "true")
    assert (bench.project / "other").read_text() == "last\n"


async def test_what_a_rule_of_the_persons_speaks_against_waits(bench: Bench) -> None:
    bench.bind(barred=lambda path: "Never change infra/." if path.startswith("infra/") else "")
    landing = await landed(bench, "mkdir infra; echo x > infra/main.tf; echo y > app")
    assert (bench.project / "app").exists() and not (bench.project / "infra/main.tf").exists()
    assert [(one.path, one.why) for one in landing.held] == [("infra/main.tf", "your rule: Never change infra/.")]


async def test_a_mass_deletion_is_held_and_a_move_is_none(bench: Bench) -> None:
    (bench.project / "many").mkdir()
    for number in range(150):
        (bench.project / "many" / f"{number}.txt").write_text(str(number))
    landing = await landed(bench, "mv many moved")
    assert not landing.held and len(list((bench.project / "moved").iterdir())) == 150
    landing = await landed(bench, "rm -r moved; echo x > x")
    assert landing.landed == ("x",) and landing.holding >= 150
    assert len(list((bench.project / "moved").iterdir())) == 150


def git(folder: Path, *words: str) -> str:
    line = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.com", *words]
    return subprocess.run(line, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(bench: Bench) -> Path:
    git(bench.project, "init", "-q", "-b", "main")
    (bench.project / "f").write_text("one\n")
    git(bench.project, "add", "-A")
    git(bench.project, "commit", "-qm", "first")
    return bench.project


AS = "git -c user.name=Stead -c user.email=s@example.com"


async def test_commits_branches_and_merges_land(bench: Bench, repository: Path) -> None:
    landing = await landed(
        bench,
        f"git switch -qc topic; echo two >> f; {AS} commit -qam second; git switch -q main; echo g > g; git add g; "
        f"{AS} commit -qm third; {AS} merge -q topic -m merged; git branch -d topic",
    )
    assert not landing.held and not landing.refused
    assert git(repository, "log", "--format=%s", "--topo-order").split() == ["merged", "second", "third", "first"]
    assert git(repository, "status", "--porcelain") == "" and git(repository, "fsck") == ""


async def test_the_state_of_a_repository_is_asked_without_changing_it(bench: Bench, repository: Path) -> None:
    for path in repository.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            os.utime(path, ns=(0, 0))  # the index does not know these times, which git would note down by itself
    assert (await landed(bench, "git status")).count == 0


async def test_the_record_of_the_branch_does_not_go_unasked(bench: Bench, repository: Path) -> None:
    landing = await landed(bench, "git branch other; rm -rf .git/refs .git/packed-refs .git/logs .git/index")
    assert {".git/refs/heads/main", ".git/logs/HEAD", ".git/index"} <= set(held(landing))
    assert git(repository, "status", "--porcelain") == "" and git(repository, "log", "--format=%s").split() == ["first"]


async def test_a_rebase_lands_when_it_is_over(bench: Bench, repository: Path) -> None:
    await landed(
        bench,
        f"git switch -qc topic; echo t > f; {AS} commit -qam topic;"
        f"git switch -q main; echo m > f; {AS} commit -qam mine",
    )
    before = git(repository, "rev-parse", "HEAD")
    ran = await bench.run(f"git switch -q topic; {AS} rebase main")
    assert ran.exit_code != 0 and held(ran.landing)
    assert not (repository / ".git/rebase-merge").exists() and git(repository, "rev-parse", "HEAD") == before
    ran = await bench.run(f"echo both > f; git add f; GIT_EDITOR=true {AS} rebase --continue")
    assert ran.exit_code == 0, ran.output
    assert ran.landing.holding == 0
    assert git(repository, "log", "--format=%s", "topic").split() == ["topic", "mine", "first"]
    assert git(repository, "status", "--porcelain") == ""


async def test_hooks_settings_and_new_repositories_are_held(bench: Bench, repository: Path) -> None:
    git(repository, "config", "core.hooksPath", "scripts/hooks")
    landing = await landed(
        bench,
        "mkdir -p scripts/hooks .git/hooks; echo x > scripts/hooks/pre-commit; echo x > .git/hooks/pre-commit; "
        "git config core.fsmonitor ./x; git init -q nested; git init -q --bare bare; echo ok > scripts/fine",
    )
    assert "scripts/fine" in landing.landed
    told = held(landing)
    assert {"scripts/hooks/pre-commit", ".git/hooks/pre-commit", ".git/config"} <= set(told)
    assert "fsmonitor" not in (repository / ".git/config").read_text()
    assert not (repository / "nested/.git").exists() and not (repository / "bare/HEAD").exists()
    assert not (repository / "bare/config").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
async def test_a_landing_that_finds_the_disk_full_leaves_nothing_half_and_goes_on_later(tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=755", "small", bench.project], check=True)
        try:
            landing = (await bench.run("head -c 3M /dev/zero > big; echo y > little")).landing
            assert landing.failed == "'big': No space left on device"
            assert [path.name for path in bench.project.iterdir()] == ["little"]
            subprocess.run(["mount", "-o", "remount,size=8m", bench.project], check=True)
            assert (await landed(bench, "cat big | wc -c")).landed == ("big",)
            assert (bench.project / "big").stat().st_size == 3 << 20
        finally:
            await bench.machines.close()
            subprocess.run(["umount", "-l", bench.project], check=True)


# -- what stays in the machine, and is brought over -------------------------------------------------------------------

PACKAGES = (
    "mkdir -p app/node_modules/x/.bin; echo 1 > app/node_modules/x/i.js; ln -s ../i.js app/node_modules/x/.bin/x; "
    "ln -s /etc/passwd app/node_modules/out; mkfifo app/node_modules/pipe; git init -q app/node_modules/repository; "
    "mkdir target; echo 'Signature: 8a477f597d28d172789f06886806bc55' > target/CACHEDIR.TAG; echo o > target/o"
)


async def test_what_stays_is_listed_with_its_size_and_brought_over_by_name(bench: Bench) -> None:
    await landed(bench, PACKAGES)
    assert not list(bench.project.rglob("node_modules"))
    stays = {one.path: one for one in await bench.held_changes.stays(SESSION)}
    assert set(stays) == {"app/node_modules", "target"}
    assert (stays["target"].files, stays["target"].size_bytes) == (2, 46)
    applied = await bench.held_changes.apply_trial(SESSION, Choice(bring=("app/node_modules",)))
    assert applied.done == ("app/node_modules",) and not applied.left
    held = {one.path: one.why for one in applied.held}
    assert held.keys() >= {"app/node_modules/out", "app/node_modules/pipe", "app/node_modules/repository/.git/config"}
    tree = bench.tree()
    assert tree["app/node_modules/x/i.js"] == "1\n" and tree["app/node_modules/x/.bin/x"] == "-> ../i.js"
    assert not tree.keys() & {"app/node_modules/out", "app/node_modules/pipe", "target/o"}
    assert not any(".git" in path for path in tree)
    assert await bench.output("cat app/node_modules/x/i.js target/o") == "1\no\n"


async def test_what_is_brought_over_takes_the_place_of_the_persons(bench: Bench) -> None:
    (bench.project / "node_modules/x").mkdir(parents=True)
    (bench.project / "node_modules/x/old.js").write_text("theirs")
    (bench.project / "node_modules/x/i.js").write_text("theirs")
    await landed(bench, "echo ours > node_modules/x/i.js; rm node_modules/x/old.js; echo plain > plain")
    assert bench.tree()["node_modules/x/i.js"] == "theirs"
    await bench.held_changes.apply_trial(SESSION, Choice(bring=("node_modules",)))
    assert bench.tree() == {
        "node_modules": "/",
        "node_modules/x": "/",
        "node_modules/x/i.js": "ours\n",
        "plain": "plain\n",
    }


async def test_what_does_not_stay_is_not_brought_over(bench: Bench) -> None:
    await landed(bench, f"{PACKAGES}; mkdir .vscode; echo evil > .vscode/tasks.json")
    for path in ("app", "app/node_modules/x", ".vscode", "../project", "/etc", "", "target/../.vscode"):
        with pytest.raises(NotFound):
            await bench.held_changes.apply_trial(SESSION, Choice(bring=(path,)))
    assert set(bench.tree()) == {"app"}


# -- at the very moment of a landing ----------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["writes", "replaces", "writes what is deleted", "makes"])
async def test_what_the_person_does_between_judgement_and_landing_is_not_lost(bench: Bench, how: str) -> None:
    mine = bench.project / "f"
    if how != "makes":
        mine.write_text("base\n")

    def meanwhile(path: str) -> str:
        if path == "f":
            if how == "replaces":
                (bench.project / "mine").write_text("mine\n")
                (bench.project / "mine").rename(mine)
            else:
                mine.write_text("mine\n")
        return ""

    bench.bind(barred=meanwhile)
    landing = await landed(bench, "rm f" if "deleted" in how else "echo ours > f")
    assert mine.read_text() == "mine\n" and landing.failed and not landing.landed
    bench.bind()
    again = await landed(bench, "true")
    assert mine.read_text() == "mine\n" and again.holding == 1
    assert [path.name for path in bench.project.iterdir()] == ["f"]


@pytest.mark.parametrize("bench", ["overlay"], indirect=True)  # in a copy, it would not see the file that ends it
async def test_what_lands_while_no_call_waits_is_on_record(bench: Bench) -> None:
    recorded: list[tuple[SessionId, Landing]] = []
    bench.machines.transactions.on_landed = lambda *of: recorded.append(of)
    assert (await landed(bench, "echo x > at-once")).landed == ("at-once",)
    await landed(
        bench, "(until [ -e stop ]; do sleep 0.02; done; echo > later; mkdir .vscode; echo > .vscode/x) >&- 2>&- &"
    )
    assert recorded == []
    (bench.project / "stop").touch()
    await until(lambda: any(landing.held for _, landing in recorded), 30)  # the last of the three that it makes
    assert {one for one, _ in recorded} == {SESSION}
    assert [path for _, landing in recorded for path in landing.landed] == ["later"]
    assert [one.path for _, landing in recorded for one in landing.held] == [".vscode/x"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
async def test_a_folder_that_may_not_be_written_by_now_gets_it_later(tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        subprocess.run(["mount", "-t", "tmpfs", "small", bench.project], check=True)
        try:
            (bench.project / "old").write_text("old")
            await bench.output("true")
            subprocess.run(["mount", "-o", "remount,ro", bench.project], check=True)
            landing = (await bench.run("echo new > new; echo new > old; rm -f old2; mkdir d; echo e > d/e")).landing
            assert "Read-only file system" in landing.failed and landing.landed == ()
            assert bench.tree() == {"old": "old"}
            subprocess.run(["mount", "-o", "remount,rw", bench.project], check=True)
            assert set((await landed(bench, "cat new d/e")).landed) == {"d/", "d/e", "new", "old"}
        finally:
            await bench.machines.close()
            subprocess.run(["umount", "-l", bench.project], check=True)


async def test_a_session_at_rest_is_forgotten_and_one_at_work_is_not(bench: Bench) -> None:
    await landed(bench, "(until [ -e stop ]; do sleep 0.02; done; echo > later) >&- 2>&- &")
    bench.machines.bind(SESSION, "", writable=False)
    assert (await landed(bench, "touch stop; echo > now")).landed == ("now", "stop")
    await bench.machines.kill(SESSION)
    bench.machines.bind(SESSION, "", writable=False)
    with pytest.raises(MachineUnavailable, match="no folder was chosen"):
        await bench.run("true")
    bench.bind()
    assert (await landed(bench, "echo > again")).landed == ("again",)
