"""That rows of the table tell the truth: programs that this host has do obey the files, untold."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stead.domain.obeyed import kept

RUN = "#!/bin/sh\ntouch ran\n"
GIT = "git init -q . && git -c user.name=A -c user.email=a@example.com"
CASES: dict[str, tuple[str, dict[str, str], str]] = {
    # what shows it: the program, the files, and what a person does then
    "a hook of git's": ("git", {".git/hooks/pre-commit": RUN}, f"{GIT} commit --allow-empty -m x"),
    "a hook by convention": ("git", {".githooks/pre-commit": RUN}, f"{GIT} -c core.hooksPath=.githooks commit -m x"),
    "git's attributes": (
        "git",
        {".gitattributes": "* filter=x\n", "a": "a"},
        f"{GIT} config filter.x.clean 'touch ran; cat'; git add a",
    ),
    "a start-up file of bash": ("bash", {".bashrc": "touch ran\n"}, "HOME=$PWD bash -i -c true"),
    "a profile": ("bash", {".profile": "touch ran\n"}, "HOME=$PWD bash -l -c true"),
    "a start-up file of gdb": (
        "gdb",
        {".gdbinit": "shell touch ran\n"},
        "gdb -batch -iex 'set auto-load safe-path /' -ex quit",
    ),
    "a start-up file of perl's debugger": (
        "perl",
        {".perldb": "system('touch ran');\n", "x.pl": "1;\n"},
        "chmod 600 .perldb; echo q | perl -d x.pl",
    ),
    "breakpoints of pdb": (
        "python3",
        {".pdbrc": "import os; os.system('touch ran')\n", "x.py": "x = 1\n"},
        "echo q | python3 -m pdb x.py",
    ),
    "Python, customised": (
        "python3",
        {"sitecustomize.py": "open('ran', 'w')\n"},
        "PYTHONPATH=. python3 -c pass",
    ),
    "a path file": (
        "python3",
        {"lib/x.pth": "import os; os.system('touch ran')\n"},
        "python3 -c \"import site; site.addsitedir('lib')\"",
    ),
    "settings of npm": (
        "npm",
        {".npmrc": "script-shell=./run\n", "run": RUN, "package.json": '{"scripts": {"x": "true"}}'},
        "chmod +x run; npm run x",
    ),
    "settings of tmux": (
        "tmux",
        {".tmux.conf": "run-shell 'touch ran'\n"},
        "HOME=$PWD tmux -L $$ -f .tmux.conf start-server",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_program_obeys_the_file(tmp_path: Path, case: str) -> None:
    program, files, then = CASES[case]
    path = os.pathsep.join(["/usr/bin", "/bin", str(Path(sys.executable).parent), os.environ["PATH"]])
    if not shutil.which(program, path=path):
        pytest.skip(f"{program} is not on this host")
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o700)
    assert any(kept(name) for name in files)
    env = {"PATH": path, "HOME": str(tmp_path / "home"), "TERM": "dumb", "LC_ALL": "C"}
    done = subprocess.run(
        ["/bin/bash", "-c", then],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        timeout=40,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert (tmp_path / "ran").exists(), done
