"""What a command really does: run by real bash, in a throw-away sandbox full of traps.

The workspace holds files whose names look like options and scripts. Every program of the system that a harmless command
may start is there; all others, shells and bash itself included, are traps that write down their call. A command is
harmless when it neither changed a file anywhere it could write nor sprang a trap.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from stead.guardian.shell_specs import READS, WRAPPERS

_HARMLESS = {*READS, *WRAPPERS, "git", "gzip", "bzip2", "xz", "zstd", "pr"} - {"busybox"}
"""Started by a harmless command itself, or by a program that it names: ``tar`` starts ``gzip`` to list an archive."""
_NEVER = {"xargs", "sudo", "doas", "watch", "parallel", "nohup", "setsid"}
_TRAP = '#!/oracle/bash\necho "$0 $*" >> /trap/sprung\nexit 1\n'
_SCRIPTS = ("/usr/bin/which", "/usr/bin/egrep", "/usr/bin/fgrep")
"""Harmless programs that are themselves scripts of ``sh``."""
_LOOP = """#!/oracle/bash
ulimit -v 1000000 -f 20000 -u 200 2>/dev/null
cd /work
for file in /oracle/commands/*; do
  IFS= read -r -d '' text < "$file"
  ( cd /work && exec timeout -s KILL 2 /oracle/bash -c "$text" </dev/null >/dev/null 2>&1 )
done
exit 0
"""
_FILES = {
    "README.md": "# Readme\nTODO\n",
    "src/app.py": "import os\n\n\ndef main():\n    return 1\n",
    "src/old.py": "import sys\n",
    "src/app/main.py": "x = 1\n",
    "a.txt": "b\na\na\n",
    "b.txt": "a\nb\n",
    "c.txt": "c\n",
    "data.csv": "1,2\n3,4\n",
    "data.bin": "\x01\x02binary",
    "notes.txt": "it's foo\n",
    "build.log": "error\nstart\nend\n",
    "names.txt": "ann\nbob\n",
    "package.json": '{"version": "1", "scripts": {}}\n',
    "Makefile": "all:\n\ttouch owned\n",
    "x.sh": "touch owned\n",
    "file with spaces.txt": "s\n",
    # names that an unwary pattern hands over as options, operands or programs
    "-o": "x\n",
    "-exec": "x\n",
    "-delete": "x\n",
    "--output=owned": "x\n",
    "--checkpoint-action=exec=touch owned": "x\n",
    "-i": "x\n",
    "1e touch owned": "x\n",
    'BEGIN{system("touch owned")}': "x\n",
    "owned.py": "x\n",
    # a repository's layout in a folder that the model could write
    "vendor/HEAD": "ref: refs/heads/main\n",
    "vendor/config": "[core]\n\tbare = false\n\tworktree = /work/vendor\n\tfsmonitor = touch /work/owned\n",
    "vendor/refs/x": "",
    "vendor/objects/x": "",
}


class Oracle:
    """A sandbox to run commands in, in batches.

    Args:
        root: an empty folder of the test.
        bwrap: path of bubblewrap.
    """

    def __init__(self, root: Path, bwrap: str) -> None:
        self._root = root
        self._bwrap = bwrap
        for name in ("bin", "oracle/commands", "trap", "home", "tmp"):
            (root / name).mkdir(parents=True)
        shutil.copy2("/bin/bash", root / "oracle" / "bash")
        _write_program(root / "oracle" / "loop", _LOOP)
        for program in Path("/usr/bin").iterdir():
            self._add_program(program)
        self._make_work()

    def harmful(self, commands: Sequence[str]) -> list[tuple[str, str]]:
        """The commands that did harm, each with what it did."""
        if not commands:
            return []
        done = self._run(commands)
        if not done:
            return []
        if len(commands) == 1:
            return [(commands[0], done)]
        middle = len(commands) // 2
        found = [*self.harmful(commands[:middle]), *self.harmful(commands[middle:])]
        return found or [(" ;; ".join(commands), done)]

    def _run(self, commands: Sequence[str]) -> str:
        folder = self._root / "oracle" / "commands"
        shutil.rmtree(folder)
        folder.mkdir()
        for number, command in enumerate(commands):
            (folder / f"{number:06}").write_bytes(command.encode() + b"\0")
        before = dict(self._seen())
        subprocess.run(self._line(), env={}, cwd="/", capture_output=True, timeout=30 + 3 * len(commands), check=True)
        after = dict(self._seen())
        changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
        sprung = self._root / "trap" / "sprung"
        calls = sprung.read_text("utf-8", "replace").splitlines() if sprung.exists() else []
        calls = [call for call in calls if not call.endswith(" --version") and not any(one in call for one in _SCRIPTS)]
        if sprung.exists():
            sprung.unlink()
        if changed:
            self._make_work()
        return " ".join([*(f"changed {path}" for path in changed if "sprung" not in path), *calls])

    def _line(self) -> list[str]:
        root = self._root
        line = [
            self._bwrap,
            "--unshare-all",
            "--die-with-parent",
            "--cap-drop",
            "ALL",
            "--uid",
            "1000",
            "--gid",
            "1000",
        ]
        line += ["--ro-bind", "/usr", "/usr", "--ro-bind", str(root / "bin"), "/usr/bin"]
        for name in ("bin", "sbin", "lib", "lib32", "lib64"):
            if os.path.islink(f"/{name}"):
                line += ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
        line += ["--ro-bind-try", "/etc/alternatives", "/etc/alternatives", "--ro-bind", "/etc/passwd", "/etc/passwd"]
        line += ["--proc", "/proc", "--dev", "/dev", "--ro-bind", str(root / "oracle"), "/oracle"]
        for name in ("work", "home", "tmp", "trap"):
            line += ["--bind", str(root / name), f"/{name}"]
        line += ["--ro-bind", str(root / "work" / ".git"), "/work/.git", "--clearenv"]
        for name, value in (("PATH", "/usr/bin:/bin"), ("HOME", "/home"), ("LANG", "C.UTF-8"), ("TMPDIR", "/tmp")):
            line += ["--setenv", name, value]
        return [*line, "--", "/oracle/loop"]

    def _add_program(self, program: Path) -> None:
        target = self._root / "bin" / program.name
        real = Path(os.path.realpath(program))
        if program.name in _HARMLESS - _NEVER and real.is_file():
            shutil.copy2(real, target)
        else:
            _write_program(target, _TRAP)

    def _make_work(self) -> None:
        work = self._root / "work"
        if work.exists():
            shutil.rmtree(work)
        for name, text in _FILES.items():
            path = work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        git = ["git", "-c", "user.name=Ann Example", "-c", "user.email=ann@example.com"]
        env = {"PATH": "/usr/bin:/bin", "HOME": str(self._root / "oracle"), "GIT_CONFIG_NOSYSTEM": "1"}
        for words in (["init", "-q", "-b", "main"], ["add", "src"], ["commit", "-qm", "First"], ["tag", "v1.0"]):
            subprocess.run([*git, *words], cwd=work, env=env, check=True, capture_output=True)
        for folder in (work, self._root / "home", self._root / "tmp", self._root / "trap"):
            for path in (folder, *folder.rglob("*")):
                path.chmod(0o777 if path.is_dir() else 0o666)

    def _seen(self) -> Iterator[tuple[str, tuple[int, int, int]]]:
        """Every file that the sandbox could change."""
        for name in ("work", "home", "tmp", "trap"):
            for path in (self._root / name).rglob("*"):
                found = path.lstat()
                folder = stat.S_ISDIR(found.st_mode)
                # A folder's time changes with a temporary file in it; the files themselves are compared.
                yield (
                    str(path.relative_to(self._root)),
                    (found.st_mode, 0 if folder else found.st_size, 0 if folder else found.st_mtime_ns),
                )


def _write_program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)
