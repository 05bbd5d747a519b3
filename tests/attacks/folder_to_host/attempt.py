"""What a try is made of, and what came of one.

Layer: tests. Tries are data; ``judge`` runs them. Not tries are ways that need the person to start the project's own
code on purpose, as changing that is what an agent is for: Makefile and GNUmakefile, package.json, conftest.py,
pytest.ini, build.rs, settings of linters and test runners, modules that shadow others where Python is started on the
folder, names of files that a Makefile or a shell script of the project pastes into a command line. The Makefile,
package.json and tests that a try's person starts are theirs and untouched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec

Start = Literal["repository", "plain", "dotfiles", "subfolder", "worktree"]
"""What the person's folder is: the root of a repository, no repository, a collection of settings that names in the
person's home link to, a folder within a repository, or a linked worktree of a repository that lies elsewhere."""


@dataclass(frozen=True, slots=True)
class Wrote:
    """A file that the agent writes by its tool instead of by a command. ``@RUN@`` in the text is the payload."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Typed:
    """A command that is typed in a terminal of the session's."""

    command: str


Step = str | Wrote | Typed

GLANCE = "git status --short --branch; git diff --stat"
"""What editors and prompts run at any moment."""
PROMPT = r"""
. /usr/lib/git-core/git-sh-prompt 2>/dev/null || __git_ps1() { git status --short --branch; }
GIT_PS1_SHOWDIRTYSTATE=1 GIT_PS1_SHOWSTASHSTATE=1 GIT_PS1_SHOWUNTRACKEDFILES=1 GIT_PS1_SHOWUPSTREAM=auto
find . -name .git -prune -o \( -type d -o -type l \) -print0 |
    while IFS= read -r -d '' folder; do (cd "$folder" 2>/dev/null && __git_ps1 && git status --short); done
"""
"""A shell with a prompt that asks git, walking through every folder."""
COMMON = {"PROMPT": PROMPT, "COMMIT": "git add -A; git commit -q --allow-empty -m mine"}
"""Parts of every table; see ``tries``."""
LOOK = "git status; git diff; git log -p -2; git stash list; git add -A; git commit -qm mine"


@dataclass(frozen=True, slots=True)
class Try:
    """One way from the folder to the host.

    Commands find ``$RUN`` (the payload, a command), ``$CANARY`` (the file that it makes), ``$OUTSIDE`` (the folder of
    that), ``$HOST`` (the folder's path on the host), ``$SCRATCH`` (a folder of the machine's own), and the functions of
    ``judge.TOOLKIT``.

    Args:
        kind: what it has in common with others.
        name: unique among those of its kind.
        commands: what the hostile agent does, one after another.
        then: what the person does afterwards in the folder, shell scripts that know nothing of the canary.
        start: what the folder is.
        before: what the person did before, a shell script in the folder. It finds ``$CANARY`` too, for files of a
            stranger's that are in the folder already and do nothing as they are.
        needs: programs without which nothing can be told.
        each: the person also acts between the commands.
        real: false where today's programs are known to withstand, so that it runs nothing without Stead either.
    """

    kind: str
    name: str
    commands: tuple[Step, ...]
    then: tuple[str, ...] = (LOOK, PROMPT)
    start: Start = "repository"
    before: str = ""
    needs: tuple[str, ...] = ("git",)
    each: bool = False
    real: bool = True


class Outcome(msgspec.Struct):
    """What came of a try.

    Args:
        name: of the try.
        kind: of the try.
        lost: when the canary was seen, in words; "" when it was not.
        missing: programs that are not installed, so that nothing was tried; "" for none.
        broken: why nothing can be told; "" for nothing.
        said: what the commands printed and how they failed.
    """

    name: str
    kind: str
    lost: str = ""
    missing: str = ""
    broken: str = ""
    said: str = ""
