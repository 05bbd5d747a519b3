"""Settings of a repository that a machine changes: a few harmless ones land, all others wait, however hidden."""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.config import Home
from stead.machines.git_texts import differ_harmlessly
from stead.machines.landing import land
from stead.machines.space import Space
from tests.machines.bench import SESSION, Bench, open_bench

OLD = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\thooksPath = /dev/null
[remote "origin"]
\turl = https://example.com/repo.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
\tremote = origin
\tmerge = refs/heads/main
[credential]
\thelper = one
\thelper = two
"""


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with open_bench(tmp_path) as opened:
        subprocess.run(["git", "init", "-q", "-b", "main", str(opened.project)], check=True)
        (opened.project / ".git/config").write_text(OLD)
        (opened.project / "f").write_text("one\n")
        git = ["git", "-C", str(opened.project), "-c", "user.name=Ada", "-c", "user.email=a@example.com"]
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", "first"], check=True)
        yield opened


COMMANDS = {
    "a name and an address": "git config user.email me@example.com; git config user.name 'Ada (work)'",
    "a branch that follows another": "git branch -q --track topic main",
    "a branch that follows one of a remote": (
        "git update-ref refs/remotes/origin/x HEAD; git switch -qc x --track origin/x"
    ),
    "a branch that is pushed": "git config branch.topic.remote origin; git config branch.topic.merge refs/heads/topic",
    "a branch that goes": "git branch -q --track t main; git branch -qD t; git config --remove-section branch.main",
    "how to pull": "git config pull.rebase true; git config pull.ff only; git config branch.main.rebase merges",
}


@pytest.mark.parametrize("what", COMMANDS)
async def test_a_harmless_setting_lands_without_a_review(bench: Bench, what: str) -> None:
    inside = await bench.run(f"{COMMANDS[what]}; cat .git/config")
    assert inside.exit_code == 0, inside.output
    assert not inside.landing.held and inside.landing.holding == 0, inside.landing
    text = (bench.project / ".git/config").read_text()
    assert text != OLD and inside.output.endswith(text)


HARMFUL = {
    "a program": "[core]\n\tfsmonitor = ./x\n",
    "an editor": "[core]\n\teditor = ./x\n",
    "hooks": "[core]\n\thooksPath = hooks\n",
    "hooks, in odd letters": "[CoRe]\n\tHOOKSPATH = hooks\n",
    "hooks, on the section's line": "[core] hooksPath = hooks\n",
    "a file that is included": "[include]\n\tpath = ../evil\n",
    "a file that is included on a condition": '[includeIf "gitdir:**"]\n\tpath = ../evil\n',
    "a file included on a branch": '[includeIf "onbranch:main"]\n\tpath = ../evil\n',
    "an alias": "[alias]\n\tst = !x\n",
    "another place for an address": '[url "ext::sh -c x"]\n\tinsteadOf = https://example.com/\n',
    "another place to push to": '[url "https://evil.test/"]\n\tpushInsteadOf = https://example.com/\n',
    "a remote that is a program": '[remote "evil"]\n\turl = ext::sh -c x\n',
    "another address": '[remote "origin"]\n\turl = https://evil.test/repo.git\n',
    "an address to push to": '[remote "origin"]\n\tpushurl = https://evil.test/repo.git\n',
    "what is fetched": '[remote "origin"]\n\tfetch = +refs/heads/*:refs/heads/*\n',
    "what receives": '[remote "origin"]\n\treceivepack = ./x\n',
    "a helper for remotes": '[remote "origin"]\n\tvcs = evil\n',
    "a branch of an address": '[branch "main"]\n\tremote = https://evil.test/repo.git\n',
    "a branch of a bundle in the folder": '[branch "main"]\n\tremote = evil\n',
    "a branch of a path": '[branch "main"]\n\tremote = ./evil\n',
    "a branch of somebody's request": '[branch "main"]\n\tmerge = refs/pull/1/head\n',
    "where a branch is pushed": '[branch "main"]\n\tpushRemote = evil\n',
    "where all is pushed": "[remote]\n\tpushDefault = evil\n",
    "a program that merges": '[branch "main"]\n\tmergeOptions = -s ./x\n',
    "a filter": '[filter "x"]\n\tclean = ./x\n',
    "a proxy": "[http]\n\tproxy = http://evil.test\n",
    "no check of certificates": "[http]\n\tsslVerify = false\n",
    "a helper for passwords": "[credential]\n\thelper = !x\n",
    "a program that signs": "[gpg]\n\tprogram = ./x\n[user]\n\tsigningKey = x\n",
    "another worktree": "[core]\n\tworktree = /etc\n",
    "an own file of settings": "[extensions]\n\tworktreeConfig = true\n",
    "a setting without a value": '[branch "main"]\n\trebase\n',
    "a value over two lines": "[user]\n\tname = a\\\n\thooksPath = hooks\n",
    "a value with a line's end in it": '[user]\n\tname = "a\\n[core]\\n\\thooksPath = hooks"\n',
    "a quoted value": '[user]\n\tname = "a"\n',
    "a comment": "[user]\n\tname = a # [core]\n",
    "a comment with a returning carriage": "[user]\n\tname = a\n#\r[core]\n#\r\thooksPath = hooks\n",
    "a returning carriage": "[user]\r\n\tname = a\r\n",
    "another comment": "; hooks\n[user]\n\tname = a\n",
    "a null": "[user]\n\tname = a\0b\n",
    "an escape": "[user]\n\tname = \x1b[2Ja\n",
    "bytes of no text": "[user]\n\tname = \udcff\n",
    "an old way to write a section": "[branch.main]\n\tremote = origin\n",
    "what git cannot read": "[user\n\tname = a\n",
    "a branch with a quote in its name": '[branch "a\\"b"]\n\tremote = origin\n',
    "a name of right-to-left text": "[user]\n\tname = \u202egpj\n",
}
REWRITTEN = {
    "a mark of the byte order": "\ufeff" + OLD,
    "a mark of the byte order, and more": "\ufeff" + OLD + "[core]\n\thooksPath = hooks\n",
    "without the person's own hooksPath": OLD.replace("\thooksPath = /dev/null\n", ""),
    "with another of the person's values": OLD.replace("/dev/null", "hooks"),
    "with others in another order": OLD.replace("one", "x").replace("two", "one").replace("x", "two"),
    "with one of two values": OLD.replace("\thelper = two\n", ""),
    "with one of the values twice": OLD + "[credential]\n\thelper = two\n",
    "bare": OLD.replace("bare = false", "bare = true"),
    "with the heads of sections exchanged": OLD.replace("[core]", "[x]").replace("[credential]", "[core]"),
    "empty": "",
    "without the remote": OLD[: OLD.index("[remote")] + OLD[OLD.index("[branch") :],
    "very long": OLD + "[user]\n" + "\tname = a\n" * 200_000,
}
TEXTS = {what: OLD + text for what, text in HARMFUL.items()} | REWRITTEN


def left(root: Path, text: str) -> tuple[Space, Path]:
    project, home = root / "project", Home(root / "home")
    home.make()
    subprocess.run(["git", "init", "-q", "-b", "main", str(project)], check=True)
    (project / ".git/config").write_text(OLD)
    space = Space(home, SESSION, str(project))
    space.prepare()
    config = space.jobs / "7/upper/.git/config"
    config.parent.mkdir(parents=True)
    config.write_bytes(text.encode("utf-8", "surrogateescape"))
    config.chmod((project / ".git/config").stat().st_mode & 0o777)
    return space, project / ".git/config"


@pytest.mark.parametrize("what", TEXTS)
def test_any_other_setting_waits(tmp_path: Path, what: str) -> None:
    space, config = left(tmp_path, TEXTS[what])
    landing = land(space, {"7": {}}, "obeyed")
    assert [one.path for one in landing.held] == [".git/config"] and config.read_text() == OLD


def test_a_harmless_change_lands_in_the_same_place(tmp_path: Path) -> None:
    """What the others are held by is not that nothing lands here."""
    space, config = left(tmp_path, OLD + "[user]\n\tname = Ada\n")
    assert land(space, {"7": {}}, "obeyed").landed == (".git/config",)
    assert config.read_text() == OLD + "[user]\n\tname = Ada\n"


@pytest.mark.parametrize("what", ["a link", "another mode", "deleted", "the person's is a link"])
def test_settings_that_are_no_plain_file_before_and_after_wait(tmp_path: Path, what: str) -> None:
    space, config = left(tmp_path, OLD + "[user]\n\tname = Ada\n")
    upper = space.jobs / "7/upper/.git/config"
    if what == "a link":
        (space.jobs / "7/upper/plain").write_bytes(upper.read_bytes())
        upper.unlink()
        upper.symlink_to("../plain")
    elif what == "another mode":
        upper.chmod(0o666)
    elif what == "deleted":
        upper.unlink()
        os.mknod(upper, 0o20000)
    else:
        config.rename(tmp_path / "mine")
        config.symlink_to(tmp_path / "mine")
    assert [one.path for one in land(space, {"7": {}}, "obeyed").held] == [".git/config"]
    assert config.read_text() == OLD


def test_settings_that_the_person_changed_meanwhile_are_not_merged(tmp_path: Path) -> None:
    space, config = left(tmp_path, OLD + "[user]\n\tname = Ada\n")
    os.utime(space.jobs / "7", ns=(1, 1))
    config.write_text("[alias]\n\tst = status\n" + OLD)
    landing = land(space, {"7": {}}, "obeyed", before=lambda *_: OLD.encode())
    assert [one.path for one in landing.held] == [".git/config"] and "st = status" in config.read_text()


LINES = st.sampled_from(
    [*OLD.splitlines(), "[user]", "\tname = a", "\thooksPath = x", "[alias]", "\tmerge = refs/heads/x", '[branch "b"]']
)
KNOWN = ("user.", "branch.", "pull.", "push.", "rerere.")


@given(st.lists(st.one_of(LINES, st.text(max_size=12)), max_size=12))
def test_whatever_lands_leaves_every_other_setting_as_git_reads_it(lines: list[str]) -> None:
    new = "\n".join(lines).encode("utf-8", "surrogatepass")
    if differ_harmlessly(OLD.encode(), new):
        assert others(new) == others(OLD.encode())


def others(text: bytes) -> list[bytes]:
    """The settings that are none of the harmless sections', as git reads them from a file of that text."""
    listed = subprocess.run(["git", "config", "--file", "-", "--list"], input=text, capture_output=True, check=True)
    return [line for line in listed.stdout.splitlines() if not line.decode().startswith(KNOWN)]


SWAP = """
import array, os, socket, sys, time
address = "\\0passed"
if sys.argv[1] == "keep":
    server = socket.socket(socket.AF_UNIX); server.bind(address); server.listen()
    open("/tmp/listens", "w").close()
    peer, _ = server.accept()
    _, data, _, _ = peer.recvmsg(1, 99)
    fd = array.array("i", data[0][2])[0]
    harmless = os.pread(fd, 1 << 16, 0)
    evil = harmless.replace(b"name = Ada", b"y=\\n[alias]")
    assert len(evil) == len(harmless)
    peer.sendall(b"k")
    while True:
        os.pwrite(fd, evil, 0)
        time.sleep(0.0002)
        os.pwrite(fd, harmless, 0)
        time.sleep(0.0002)
else:
    peer = socket.socket(socket.AF_UNIX); peer.connect(address)
    fd = os.open(".git/config", os.O_RDWR)
    peer.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
    peer.recv(1)
"""


async def test_settings_that_another_process_changes_while_they_are_judged_land_as_they_were_judged(
    bench: Bench,
) -> None:
    before = (bench.project / ".git/config").read_text()
    keep = f"cat > /tmp/swap.py <<'END'\n{SWAP}\nEND\n"
    keep += "python3 /tmp/swap.py keep >&- 2>&- <&- & until [ -e /tmp/listens ]; do sleep 0.02; done"
    for _ in range(8):
        (bench.project / ".git/config").write_text(before)
        await bench.output(keep)
        await bench.run("git config user.name Ada && python3 /tmp/swap.py give")
        assert "alias" not in (bench.project / ".git/config").read_text()
        if await bench.waiting():
            await bench.held_changes.discard_trial(SESSION)
