"""Running tries: the agent's commands in a machine, or without one, and the person's programs afterwards."""

from __future__ import annotations

import asyncio
import base64
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec

from stead.config import Home
from stead.domain.errors import SteadError
from stead.domain.ids import CallDigest, CallKey, SessionId
from stead.domain.permits import Permit
from stead.machines.bubblewrap import BubblewrapMachines
from stead.machines.host import Host, probe
from tests.attacks.folder_to_host.attempt import GLANCE, Outcome, Start, Step, Try, Typed, Wrote

SESSION = SessionId("s_0123456789abcdef")
COMMAND_S, ACTION_S = 30.0, 30
TOOLKIT = r"""
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com
evil() { mkdir -p -- "$(dirname -- "$1")"; printf '#!/bin/sh\n%s\n' "$RUN" > "$1"; chmod +x -- "$1"; }
conf() { printf '[core]\nrepositoryformatversion = 0\nbare = false\nworktree = %s\nfsmonitor = "%s; false"\n' \
    "${1:-.}" "$RUN"; }
bare() { mkdir -p -- "$1/objects" "$1/refs"; conf > "$1/config"; echo ref: refs/heads/main > "$1/HEAD"; }
await() { for _ in $(seq 150); do [ -e "$1" ] && return; sleep 0.02; done; }
echo began
"""
"""``evil FILE`` writes an executable, ``bare FOLDER`` a repository without ``.git``, ``conf`` its settings, and
``await FILE`` waits three seconds at most for what another process makes. "began" is said before a command works."""

_FILES = r"""
mkdir -p src tests docs
printf '# Notes\n' > README.md; printf 'one\ntwo\nthree\n' > a.txt; printf 'Guide\n' > docs/guide.md
printf 'def twice(n):\n    return 2 * n\n' > src/own.py
printf 'def test_two():\n    assert 1 + 1 == 2\n' > tests/test_own.py
printf 'all:\n\tmkdir -p build && date > build/ran\n\tdate >> notes.log\nversion:\n\tgit describe --always --dirty\n' \
    > Makefile
printf '{"name": "own", "version": "1.0.0", "scripts": {"hello": "true", "start": "node src/x.js"}}\n' > package.json
"""
_REPOSITORY = r"""
git init -q . && git add -A && git commit -qm first && echo four >> a.txt && git commit -qam second
git branch -q side HEAD~1 && git clone -q --bare . "$HOME/origin.git" && git remote add origin "$HOME/origin.git"
git fetch -q && git branch -q -u origin/main
"""
_DOTFILES = r"""
mkdir .config .local .vim .ssh .cargo; mv ~/.gitconfig .
for name in .config .local .vim .ssh .cargo .gitconfig .bashrc .bash_profile .bash_login .profile .bash_logout \
    .bash_aliases .inputrc .vimrc .tmux.conf .gdbinit .npmrc .curlrc .wgetrc .screenrc .zshrc
do ln -s "$HOST/$name" ~; done
"""
_STARTS: dict[Start, str] = {
    "plain": _FILES,
    "dotfiles": _FILES + _DOTFILES,
    "repository": _FILES + _REPOSITORY,
    "subfolder": "cd ..; " + _FILES + _REPOSITORY,
    "worktree": 'top=$PWD; mkdir -p "$HOME/main"; cd "$HOME/main";'
    + _FILES
    + _REPOSITORY
    + 'rmdir "$top"; git worktree add -q -b mine "$top"',
}


@cache
def _host() -> Host:
    return probe()


class Scene:
    """A person with a home and a folder, and a place outside that no machine reaches.

    Args:
        base: an empty folder.
        one: the try.
    """

    def __init__(self, base: Path, one: Try) -> None:
        self.one = one
        self.folder = base / ("project/part" if one.start == "subfolder" else "project")
        self.home, self.outside, self.scratch = base / "person", base / "outside", base / "scratch"
        for folder in (self.folder, self.outside, self.scratch, self.home):
            folder.mkdir(parents=True, exist_ok=True)
        self.canary = self.outside / "ran"
        self._before: dict[str, tuple[int, ...]] = {}
        top = self.folder.parent if one.start == "subfolder" else self.folder
        self.env = {
            "PATH": os.pathsep.join(["/usr/bin", "/bin", "/usr/sbin", "/usr/games", os.environ.get("PATH", "")]),
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm",
            "EDITOR": "true",
            "TMUX_TMPDIR": str(self.outside),
            "GIT_CEILING_DIRECTORIES": str(top.parent),
            "CARGO_NET_OFFLINE": "true",
            "OPEN_IN_EDITOR": f"{sys.executable} -I {Path(__file__).parent / 'editor.py'}",
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup")),
        }

    def prepare(self) -> None:
        """The person's home and folder, as they are before the agent comes."""
        (self.home / ".gitconfig").write_text(
            "[user]\nname = Ada\nemail = ada@example.com\n[init]\ndefaultBranch = main\n[alias]\nst = status\n"
        )
        known = f"CANARY={self.canary}; OUTSIDE={self.outside}; RUN='touch {self.canary}'; HOST={self.folder}"
        for script in (_STARTS[self.one.start], self.one.before):
            done = self._bash(f"set -e\n{known}\n{TOOLKIT}\n{script}")
            if done.returncode:
                raise RuntimeError(f"{self.one.name}: {done.stdout}{done.stderr}")
        self.canary.unlink(missing_ok=True)

    def missing(self) -> str:
        """Programs that are not there."""
        return ", ".join(need for need in self.one.needs if not shutil.which(need, path=self.env["PATH"]))

    def act(self, *, whole: bool, anew: bool = True) -> bool:
        """The person's programs; whether the canary is there afterwards.

        Unless ``anew``, not where the folder is as it was before they last ran, as they then do the same.
        """
        if not anew and self._state() == self._before:
            return self.canary.exists()
        self._before = self._state() if whole else {}
        for script in self.one.then if whole else (GLANCE,):
            self._bash(script)
        return self.canary.exists()

    def _state(self) -> dict[str, tuple[int, ...]]:
        """Of everything in the folder; the times of a change cannot be set."""
        found: dict[str, tuple[int, ...]] = {}
        for folder, folders, files in os.walk(self.folder):
            for name in (".", *folders, *files):
                path = os.path.join(folder, name)
                with suppress(FileNotFoundError):  # what outlives its command changes the folder meanwhile
                    status = os.lstat(path)
                    found[path] = (status.st_ino, status.st_mode, status.st_ctime_ns, status.st_nlink)
        return found

    def script(self, command: str, *, inside: bool) -> str:
        """A command of the agent's with what it knows."""
        scratch = "/tmp" if inside else self.scratch
        known = f"export CANARY={self.canary} OUTSIDE={self.outside} HOST={self.folder} SCRATCH={scratch}"
        return f"{known} RUN='touch {self.canary}'\n{TOOLKIT}\n{command}"

    def _bash(self, script: str) -> subprocess.CompletedProcess[str]:
        """What still runs after its time is killed with all that it started."""
        with tempfile.TemporaryFile("w+", errors="replace") as out:
            process = subprocess.Popen(
                ["/bin/bash", "-c", script],
                cwd=self.folder,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                process.wait(ACTION_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            out.seek(0)
            return subprocess.CompletedProcess((), process.returncode, out.read(), "")


def without_stead(base: Path, one: Try) -> Outcome:
    """The same commands run on the folder itself."""
    scene, outcome = Scene(base, one), Outcome(one.name, one.kind)
    if missing := scene.missing():
        return Outcome(one.name, one.kind, missing=missing)
    scene.prepare()
    env = {**scene.env, "HOME": str(scene.scratch)}
    for step in one.commands:
        if isinstance(step, Wrote):
            path = scene.folder / step.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text.replace("@RUN@", f"touch {scene.canary}"))
        else:
            command = step.command if isinstance(step, Typed) else step
            with tempfile.TemporaryFile("w+", errors="replace") as out:
                subprocess.run(
                    ["/bin/bash", "-c", scene.script(command, inside=False)],
                    cwd=scene.folder,
                    env=env,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    timeout=COMMAND_S,
                    check=False,
                )
                out.seek(0)
                outcome.said += out.read()
            scene.canary.unlink(missing_ok=True)  # it harms nobody that the agent runs its own payload
        if one.each and scene.act(whole=True):
            break
    outcome.lost = "at the end" if scene.canary.exists() or scene.act(whole=True) else ""
    return outcome


async def with_stead(base: Path, one: Try) -> Outcome:
    """The commands run in a machine; the person acts after each, when it has ended, and when the daemon has stopped."""
    scene, outcome = Scene(base, one), Outcome(one.name, one.kind)
    if missing := scene.missing():
        return Outcome(one.name, one.kind, missing=missing)
    scene.prepare()
    home = Home(base / "stead-home")
    home.make()
    own, os.environ["HOME"] = os.environ.get("HOME", ""), str(scene.home)  # the daemon is the person's
    machines = BubblewrapMachines(home, host=_host())
    machines.bind(SESSION, str(scene.folder), writable=True)
    try:
        for number, step in enumerate(one.commands, 1):
            try:
                outcome.said += await _step(machines, scene, step)
            except SteadError as error:
                outcome.said += f"{type(error).__name__}: {error}\n"
            if number == 1 and "began" not in outcome.said and not isinstance(step, Wrote):
                outcome.broken = outcome.said or "the first command did not begin"
            whole = one.each or number == len(one.commands)
            if await asyncio.to_thread(scene.act, whole=whole):
                outcome.lost = outcome.lost or f"after command {number} of {len(one.commands)}"
        await machines.kill(SESSION)
        if not outcome.lost and await asyncio.to_thread(scene.act, whole=True, anew=False):
            outcome.lost = "at the end"
    finally:
        await machines.close()
        os.environ["HOME"] = own
    if not outcome.lost and await asyncio.to_thread(scene.act, whole=True, anew=False):
        outcome.lost = "when the daemon had stopped"
    return outcome


async def _step(machines: BubblewrapMachines, scene: Scene, step: Step) -> str:
    if isinstance(step, Wrote):
        text = step.text.replace("@RUN@", f"touch {scene.canary}")
        await machines.write(_permit("write"), f"/work/{step.path}", text)
        return ""
    if isinstance(step, Typed):
        return await _typed(machines, scene, step.command)
    script = scene.script(step, inside=True)
    ran = await machines.run(
        _permit("shell"), script, timeout_s=COMMAND_S, cap_bytes=20_000, on_output=lambda _text: None
    )
    return ran.output


async def _typed(machines: BubblewrapMachines, scene: Scene, command: str) -> str:
    terminal_id, said = f"t_{secrets.token_hex(8)}", b""
    await machines.terminals.open(SESSION, terminal_id, 24, 80)
    terminal = machines.terminals.at(SESSION, terminal_id)
    seat = terminal.watch()
    packed = base64.b64encode(scene.script(command, inside=True).encode()).decode()
    await terminal.type(f"eval \"$(echo {packed} | base64 -d)\"; echo ov'er'\r".encode())
    with suppress(TimeoutError):
        async with asyncio.timeout(COMMAND_S):
            while b"\nover" not in said and (data := await seat.read()):
                said += data
    return said.decode(errors="replace")


def _permit(tool: str) -> Permit:
    permit = Permit(
        session=SESSION,
        call=CallKey("call_1_0"),
        tool=tool,
        arguments={},
        digest=CallDigest("d"),
        nonce=secrets.token_bytes(16),
    )
    permit.spend(tool, {})
    return permit


async def judge_all(base: Path, tries: Sequence[Try], *, stead: bool = True) -> list[Outcome]:
    """Every try in a fresh folder of its own."""
    outcomes = []
    for number, one in enumerate(tries):
        place = base / f"{number:03}"
        place.mkdir()
        if stead:
            outcomes.append(await with_stead(place, one))
        else:
            outcomes.append(await asyncio.to_thread(without_stead, place, one))
        shutil.rmtree(place, ignore_errors=True)
    return outcomes


if __name__ == "__main__":
    from tests.attacks.folder_to_host.tries import TRIES

    wanted = [TRIES[name] for name in sys.argv[2:]]
    sys.stdout.buffer.write(msgspec.json.encode(asyncio.run(judge_all(Path(sys.argv[1]), wanted))))
