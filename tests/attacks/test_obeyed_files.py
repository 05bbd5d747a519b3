"""What programs of the person's obey: one table for the guard and for what a machine changes.

Every row is tried at every reader; that a row tells the truth is tried with the programs that this host has.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stead.domain.ids import CallKey
from stead.domain.obeyed import PATTERNS, is_repository, kept
from stead.domain.obeyed_table import PROJECT_RULES, TABLE
from stead.domain.policies import Ask, Profile, Risk
from stead.guardian.decide import Facts, Proposed, decide
from stead.guardian.permits import Circumstances
from stead.guardian.reach import Reach
from stead.guardian.shell import assess
from tests.build import TOOLS
from tests.machines.bench import SESSION, Bench, open_bench
from tests.machines.folders import digest
from tests.promises import promise

ROWS = [
    pytest.param(pattern.replace("*", "x"), row.kept, id=f"{row.program}: {pattern}")
    for row in TABLE
    for pattern in row.patterns
]
HELD = sorted({pattern.replace("*", "x") for row in TABLE for pattern in row.patterns if row.kept == "held"})
GIT = shutil.which("git", path="/usr/bin")
needs_git = pytest.mark.skipif(not GIT, reason="git is not under /usr")

ONCE_MISSED = [
    *(
        ".githooks/pre-commit",
        "lefthook.yml",
        ".jj/repo/config.toml",
        ".devcontainer.json",
        "foo.code-workspace",
    ),
    *(
        ".helix/languages.toml",
        ".nvim.lua",
        ".dir-locals.el",
        ".rvmrc",
        "mise.toml",
        ".pdbrc",
        ".gitlab-ci.yml",
    ),
    *(
        ".circleci/config.yml",
        ".github/actions/x/action.yml",
        ".forgejo/workflows/x.yml",
        ".gitea/workflows/x.yml",
    ),
    *(
        "Jenkinsfile",
        ".pnpmfile.cjs",
        ".yarnrc.yml",
        "GEMINI.md",
        ".github/copilot-instructions.md",
    ),
    *(
        "CLAUDE.local.md",
        "AGENTS.override.md",
        "opencode.json",
        ".aider.conf.yml",
        ".roo/mcp.json",
    ),
    *(
        ".kiro/settings/mcp.json",
        ".amazonq/mcp.json",
        ".cargo/config.toml",
        ".config/mise.toml",
    ),
    *(
        ".devcontainer/devcontainer.json",
        ".hg/hgrc",
    ),
]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with open_bench(tmp_path) as opened:
        yield opened


def asked(path: str) -> bool:
    """Whether a write by tool is asked as one of a file that programs obey, where writes are asked."""
    spec = next(spec for spec in TOOLS if spec.name == "write")
    facts = Facts(
        circumstances=Circumstances(SESSION, CallKey("call_1_0"), "/home/ada/notes", 0, {}),
        offered=frozenset({"write"}),
        profile=Profile.ASK,
        grants=(),
        approved="",
        reach=Reach(),
        machine="",
        digest_key=bytes(32),
        nonce=bytes(16),
    )
    verdict = decide(Proposed("write", spec, {"path": path, "text": "x"}, ""), facts)
    return isinstance(verdict, Ask) and verdict.reason.rule == "obeyed-file"


@pytest.mark.parametrize(("path", "how"), ROWS)
def test_each_row_counts_for_each_reader_at_any_depth_and_in_any_letters(path: str, how: str) -> None:
    for spelt in (
        path,
        path.upper(),
        f"a/b/{path}",
        f"{path}/below/it",
        path + ".",
        path + ":x",
        f"{path[0]}\u200d{path[1:]}",
    ):
        assert asked(spelt), spelt
        assert bool(kept(spelt)), spelt
        if "\u200d" not in spelt:
            critical = assess(f"cp evil '{spelt}'").risk is Risk.CRITICAL
            assert critical is (how != "tools"), spelt


@pytest.mark.parametrize("path", ONCE_MISSED)
def test_what_a_list_of_names_once_missed_is_held(path: str) -> None:
    assert kept(path) == kept(f"deep/down/{path}") == "held" and asked(path)


def test_project_rules_are_what_no_machine_may_write() -> None:
    assert PROJECT_RULES and all(kept(name) == "held" for name in PROJECT_RULES)


@pytest.mark.parametrize(
    "path",
    [
        *("Makefile", "package.json", "pyproject.toml", "setup.py", "conftest.py", "compose.override.yaml"),
        *(
            "src/hooks/use.ts",
            "src/config/base.py",
            "docs/HEAD.md",
            ".github/CODEOWNERS",
            ".gitignore",
            ".editorconfig",
        ),
        *("node_modules/left-pad/index.js", ".venv/lib/x.py", "refs/a", "objects/b"),
    ],
)
def test_programs_that_a_person_starts_on_purpose_are_not_asked_as_obeyed(path: str) -> None:
    assert not asked(path) and not kept(path)


def test_every_row_says_what_runs_and_who_says_so_and_no_pattern_stands_twice() -> None:
    assert all(row.program and row.runs and row.source and row.patterns for row in TABLE)
    assert len(set(PATTERNS)) == len(PATTERNS)


def test_data_of_a_repository_and_a_folder_called_config_are_none() -> None:
    assert not is_repository({"objects", "refs"}) and not is_repository({"head", "config"})


@promise("SEC-5.protected")
@pytest.mark.parametrize("part", [0, 1, 2])
async def test_every_held_row_stays_as_the_person_left_it(bench: Bench, part: int) -> None:
    mine = [name for name in HELD[part::3]]
    for name in mine:
        path = bench.project / "a" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine\n")
    before = digest(bench.project)
    (bench.project / "names").write_text("".join(f"a/{name}\n" for name in mine))
    for attack in ("echo evil >> $name", "chmod 777 $name", "mv $name $name.away", "rm -rf $name"):
        landing = await bench.landing(f"while read -r name; do {attack}; done < names; rm names; mv a b")
        assert landing.holding >= len(mine)
    await bench.machines.kill(SESSION)
    shutil.rmtree(bench.project / "b", ignore_errors=True)
    (bench.project / "names").unlink(missing_ok=True)
    assert digest(bench.project) == before


@promise("SEC-5.protected")
async def test_every_held_row_waits_when_it_was_planted(bench: Bench) -> None:
    (bench.project / "names").write_text("".join(f"A/b/{name}\n" for name in HELD))
    await bench.output('while read -r name; do mkdir -p "${name%/*}"; echo evil > "$name"; done < names; rm names')
    waiting = await bench.waiting()
    assert sorted(waiting) == sorted(f"A/b/{name}" for name in HELD)
    assert {change.held for change in waiting.values()} == {"protected"}
    assert [path for path in bench.project.rglob("*") if path.is_file()] == []


# -- repositories by what is in them -------------------------------------------------------------------------------

CONFIG = '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "touch {mark}; false"\n'
MAKE = "mkdir -p {d}/objects {d}/refs; echo ref: refs/heads/main > {d}/HEAD; cp conf {d}/config"
PIECES: dict[str, tuple[list[str], str]] = {
    "at once": ([MAKE.format(d="docs")], "docs"),
    "the workspace itself": ([MAKE.format(d=".")], "."),
    "deep": ([MAKE.format(d="a/b/c")], "a/b/c"),
    "over several machines": (
        ["mkdir -p docs/objects docs/refs", "cp conf docs/config", "echo ref: refs/heads/main > docs/HEAD"],
        "docs",
    ),
    "HEAD by renaming": (
        [
            "mkdir -p docs/objects docs/refs; echo 'ref: refs/heads/main' > docs/x; cp conf docs/config",
            "mv docs/x docs/HEAD",
        ],
        "docs",
    ),
    "HEAD as a link": (
        [
            "mkdir -p docs/objects docs/refs/heads; touch docs/refs/heads/main; ln -s refs/heads/main docs/HEAD;"
            "cp conf docs/config"
        ],
        "docs",
    ),
    "objects as a link": (
        [
            "mkdir -p docs/refs store; ln -s ../store docs/objects; echo ref: refs/heads/main > docs/HEAD;"
            "cp conf docs/config"
        ],
        "docs",
    ),
    "objects as an executable file": (
        [
            "mkdir -p docs/refs; touch docs/objects; chmod +x docs/objects; echo ref: refs/heads/main > docs/HEAD;"
            "cp conf docs/config"
        ],
        "docs",
    ),
    "from an archive": (
        [MAKE.format(d="t/docs") + "; tar -C t -cf x.tar docs; rm -r t; tar -xf x.tar; rm x.tar"],
        "docs",
    ),
    "the whole folder by renaming": ([MAKE.format(d="docs") + "; mv docs paper"], "paper"),
    "by cloning bare": (["git init -q --bare docs; cp conf docs/config"], "docs"),
    "a .git folder": ([MAKE.format(d="docs/.git")], "docs"),
    "a .git file that points aside": ([MAKE.format(d="docs/meta") + "; echo 'gitdir: meta' > docs/.git"], "docs"),
    "commondir": (
        [
            "mkdir -p docs c/objects c/refs; cp conf c/config; echo ../c > docs/commondir;"
            "echo ref: refs/heads/main > docs/HEAD"
        ],
        "docs",
    ),
    "in a folder kept from strangers": ([MAKE.format(d="docs") + "; chmod 500 docs"], "docs"),
}


def hosts_git(folder: Path, home: Path) -> None:
    """The person looks at their folder with git."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CEILING_DIRECTORIES": str(home)}
    for words in (["status", "--short"], ["diff"], ["add", "-A"]):
        subprocess.run(
            [str(GIT), "-c", "safe.directory=*", *words],
            cwd=folder,
            env=env,
            capture_output=True,
            timeout=20,
            check=False,
        )


@needs_git
@promise("SEC-5.protected")
@pytest.mark.parametrize("pieces", PIECES)
async def test_a_repository_that_a_machine_makes_runs_nothing_outside(
    bench: Bench, tmp_path: Path, pieces: str
) -> None:
    mark = tmp_path / "ran"
    commands, folder = PIECES[pieces]
    (bench.project / "conf").write_text(CONFIG.format(mark=mark))
    for command in commands:
        await bench.output(command)
        await bench.machines.kill(SESSION)
        hosts_git(bench.project / folder, tmp_path)
        hosts_git(bench.project, tmp_path)
    assert await bench.waiting()
    assert not mark.exists()


@needs_git
@pytest.mark.parametrize(
    "pieces",
    [
        "at once",
        "HEAD as a link",
        "objects as an executable file",
        "a .git file that points aside",
    ],
)
def test_without_a_machine_the_same_does_run(tmp_path: Path, pieces: str) -> None:
    project, mark = tmp_path / "project", tmp_path / "ran"
    project.mkdir()
    (project / "conf").write_text(CONFIG.format(mark=mark))
    commands, folder = PIECES[pieces]
    for command in commands:
        subprocess.run(["/bin/bash", "-c", command], cwd=project, check=True)
    hosts_git(project / folder, tmp_path)
    assert mark.exists()


@needs_git
async def test_a_persons_own_repositories_can_be_read_and_not_commanded(bench: Bench) -> None:
    for words in (["init", "-q"], ["init", "-q", "sub"], ["init", "-q", "--bare", "store"]):
        subprocess.run([str(GIT), *words], cwd=bench.project, check=True)
    before = digest(bench.project)
    for attack in (
        "echo x >> store/config",
        "echo x > store/hooks/post-update",
        "rm store/HEAD",
        "echo x >> sub/.git/config",
        "mv sub/.git y",
        "echo x > store/info/attributes",
        "echo evil > store/config.worktree",
        "echo evil > store/commondir",
    ):
        assert (await bench.landing(attack)).holding, attack
    await bench.output("cat store/config; ls sub store")
    await bench.waiting()
    shutil.rmtree(bench.project / "y", ignore_errors=True)
    assert digest(bench.project) == before
