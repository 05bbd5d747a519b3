"""Toolchains of this computer in a machine: what is found, what is shown, and what of it never is."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import zipfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from stead.config import Home
from stead.domain.git import identity
from stead.machines.bubblewrap import BubblewrapMachines
from stead.machines.toolchains import OWN_PATH, SYSTEM_PATH, Shown, Toolchains
from tests.machines.bench import SESSION, Bench, open_bench, this_host

AS_ROOT = os.geteuid() == 0


def program(path: Path, says: str = "it ran") -> Path:
    """A script that says something."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {says}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a person with an ordinary PATH."""
    for name in ("NVM_DIR", "PYENV_ROOT", "CARGO_HOME", "RUSTUP_HOME", "GOPATH", "JAVA_HOME", "GOROOT", "SDKMAN_DIR"):
        monkeypatch.delenv(name, raising=False)
    made = tmp_path / "home"
    made.mkdir(mode=0o700)
    monkeypatch.setenv("HOME", str(made))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return made


def look(home: Path, *added: str) -> Shown:
    return Toolchains((str(home / ".stead"), str(home / "notes")), added).look()


def shown(home: Path, *added: str) -> list[str]:
    return [str(Path(at).relative_to(home)) for _, at in look(home, *added).folders]


def path(found: Shown) -> list[str]:
    """The PATH, without what every machine has."""
    return [entry for entry in found.path.split(":") if entry not in (OWN_PATH, *SYSTEM_PATH.split(":"))]


@pytest.fixture
async def bench(tmp_path: Path, home: Path) -> AsyncIterator[Bench]:
    """A bench whose machines show what the home has."""
    async with open_bench(tmp_path) as opened:
        tools = this_host().tools
        assert tools
        private = (str(opened.home.root), str(opened.home.memory_files))
        committer = identity("Ada Muster", "ada@example.org")
        found = replace(this_host(), tools=replace(tools, toolchains=Toolchains(private)), committer=committer)
        opened.machines = BubblewrapMachines(opened.home, host=found)
        opened.bind()
        yield opened
        await opened.machines.close()


# -- what is found --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("programs", "folder"),
    [
        (".local/bin", ".local/bin"),
        (".local/share/uv/python/cpython-3.12-linux/bin", ".local/share/uv/python"),
        (".pyenv/versions/3.12.1/bin", ".pyenv/versions"),
        (".nvm/versions/node/v22.1.0/bin", ".nvm/versions"),
        (".local/share/fnm/node-versions/v22.1.0/installation/bin", ".local/share/fnm/node-versions"),
        (".volta/tools/image/node/22.1.0/bin", ".volta/tools/image"),
        (".cargo/bin", ".cargo/bin"),
        ("go/bin", "go/bin"),
        (".sdkman/candidates/java/21/bin", ".sdkman/candidates"),
        (".bun/bin", ".bun/bin"),
        (".deno/bin", ".deno/bin"),
        (".local/share/mise/installs/zig/0.13/bin", ".local/share/mise/installs"),
        (".rbenv/versions/3.3.0/bin", ".rbenv/versions"),
    ],
)
def test_each_kind_is_found_shown_and_on_the_path(home: Path, programs: str, folder: str) -> None:
    program(home / programs / "tool")
    assert shown(home) == [folder] and path(look(home)) == [str(home / programs)]


def test_the_newest_version_comes_first_and_all_come_after_the_systems_own(home: Path) -> None:
    for version in ("3.9.2", "3.13.0", "3.10.11"):
        program(home / f".pyenv/versions/{version}/bin/python3")
    entries = look(home).path.split(":")
    assert [entry.split("/")[-2] for entry in entries[-3:]] == ["3.13.0", "3.10.11", "3.9.2"]
    assert entries[0] == OWN_PATH and entries.index("/usr/bin") < len(entries) - 3


def test_what_the_persons_path_puts_first_comes_first(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("3.9.2", "3.13.0"):
        program(home / f".pyenv/versions/{version}/bin/python3")
    node = program(home / ".nvm/versions/node/v22.1.0/bin/node").parent
    (home / ".pyenv/version").write_text("3.9.2\nsystem\n3.13.0\n")
    (home / "chosen").symlink_to(node)  # as fnm does it
    unknown = "/srv/unknown/bin"
    monkeypatch.setenv("PATH", f"{home}/.pyenv/shims:{home}/chosen:{unknown}:relative:/usr/bin")
    entries = look(home).path.split(":")
    versions = [f"{home}/.pyenv/versions/{version}/bin" for version in ("3.9.2", "3.13.0")]
    assert entries[1:5] == [*versions, str(node), "/usr/bin"]
    assert unknown not in entries and "relative" not in entries and f"{home}/.pyenv/shims" not in entries


def test_a_folder_that_a_variable_names_is_found_there(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(home / "elsewhere/nvm/versions/node/v20.0.0/bin/node")
    monkeypatch.setenv("NVM_DIR", str(home / "elsewhere/nvm"))
    assert shown(home) == ["elsewhere/nvm/versions"]


def test_a_link_to_a_folder_is_shown_where_it_is_and_where_it_leads(home: Path) -> None:
    program(home / "disk/nvm/versions/node/v20.0.0/bin/node")
    (home / ".nvm").symlink_to(home / "disk/nvm")
    assert list(look(home).folders) == [
        (str(home / "disk/nvm/versions"), str(home / ".nvm/versions")),
        (str(home / "disk/nvm/versions"), str(home / "disk/nvm/versions")),
    ]


def test_an_environment_that_a_program_links_to_is_shown_and_no_other_folder(home: Path) -> None:
    tool, secret = program(home / "made/env/bin/tool"), program(home / "work/project/bin/deploy")
    (home / "made/env/pyvenv.cfg").touch()
    (home / ".local/bin").mkdir(parents=True)
    for target in (tool, secret):
        (home / ".local/bin" / target.name).symlink_to(target)
    assert shown(home) == [".local/bin", "made/env"]


def test_rust_finds_its_toolchains_and_java_its_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".rustup").mkdir()
    program(home / ".sdkman/candidates/java/21/bin/java")
    (home / ".sdkman/candidates/java/current").symlink_to("21")
    monkeypatch.setenv("GOROOT", str(home / "not/shown"))
    java = str(home / ".sdkman/candidates/java/current")
    assert look(home).environment == {"RUSTUP_HOME": str(home / ".rustup"), "JAVA_HOME": java}


# -- what never is --------------------------------------------------------------------------------------------------


def test_nothing_is_shown_of_what_is_next_to_programs(home: Path) -> None:
    program(home / ".cargo/bin/tool")
    (home / ".cargo/credentials.toml").write_text("token")
    (home / ".nvm").mkdir()
    (home / ".nvm/.npmrc").write_text("token")
    assert shown(home) == [".cargo/bin"]


def test_a_folder_that_others_can_change_is_not_shown(home: Path) -> None:
    program(home / ".cargo/bin/tool")
    (home / ".cargo").chmod(0o777)
    assert shown(home) == []
    (home / ".cargo").chmod(0o775)
    (home / ".cargo/bin").chmod(0o757)
    assert shown(home) == []
    (home / ".cargo/bin").chmod(0o755)
    assert shown(home) == [".cargo/bin"]


@pytest.mark.skipif(not AS_ROOT, reason="only root can give a folder to somebody else; run the tests as root")
def test_a_folder_of_another_account_is_not_shown(home: Path) -> None:
    program(home / ".cargo/bin/tool")
    os.chown(home / ".cargo", 12345, 12345)
    assert shown(home) == []


@pytest.mark.parametrize("added", ["", "..", ".stead", ".stead/data", ".stead/..", "notes", "missing", "to_home"])
def test_no_home_and_nothing_of_steads_is_shown_even_when_it_is_asked_for(home: Path, added: str) -> None:
    program(home / ".stead/data/bin/tool")
    (home / "notes").mkdir()
    (home / "to_home").symlink_to(home)
    assert look(home, f"{home}/{added}").folders == ()


@pytest.mark.parametrize("added", ["/", "/etc", "/etc/ssl", "/home", "/opt", "/proc/self", "/run", "/usr", "/var"])
def test_no_whole_part_of_the_system_is_shown_either(home: Path, added: str) -> None:
    assert look(home, added).folders == ()


def test_a_folder_that_the_settings_add_is_shown(home: Path) -> None:
    program(home / "sdk/bin/tool")
    program(home / "loose/tool")
    found = look(home, f"{home}/sdk", f"{home}/loose")
    assert shown(home, f"{home}/sdk", f"{home}/loose") == ["loose", "sdk"]
    assert path(found) == [f"{home}/sdk/bin", f"{home}/loose"] and found.names == (f"{home}/sdk", f"{home}/loose")


def test_there_is_an_end_to_the_folders(home: Path) -> None:
    added = [str(home / f"sdk{number}") for number in range(100)]
    for folder in added:
        os.mkdir(folder)
    assert len(look(home, *added).folders) == 24


# -- inside ---------------------------------------------------------------------------------------------------------


async def test_programs_run_by_name_and_nothing_of_them_can_be_changed(bench: Bench, home: Path) -> None:
    program(home / ".nvm/versions/node/v22.1.0/bin/greet", "from the toolchain")
    link = home / ".local/bin/black"
    link.parent.mkdir(parents=True)
    link.symlink_to(program(home / ".local/share/uv/tools/black/bin/black", "formatted"))
    assert await bench.output("greet; black") == "from the toolchain\nformatted\n"
    ran = await bench.run(
        f"touch {home}/.nvm/versions/new; touch {home}/.local/bin/new; touch {home}/new; ls -A {home}"
    )
    assert ran.output.count("Read-only file system") == 2
    assert not [name for name in ("new", ".nvm/versions/new", ".local/bin/new") if (home / name).exists()]


async def test_a_folder_behind_a_link_runs_by_both_its_paths_and_hides_its_tokens_at_both(
    bench: Bench, home: Path
) -> None:
    tool = program(home / "disk/nvm/versions/node/v22.1.0/bin/greet")
    (tool.parents[1] / "pip.conf").write_text("token")
    (home / ".nvm").symlink_to(home / "disk/nvm")
    by_link = home / ".nvm/versions/node/v22.1.0"
    said = await bench.output(f"{tool}; {by_link}/bin/greet; cat {tool.parents[1]}/pip.conf {by_link}/pip.conf")
    assert said == "it ran\nit ran\n"


async def test_an_interpreter_outside_of_the_workspace_serves_its_environments(bench: Bench, home: Path) -> None:
    python = program(home / ".local/share/uv/python/cpython-3.12-linux/bin/python3", "its python")
    (bench.project / ".venv/bin").mkdir(parents=True)
    (bench.project / ".venv/bin/python").symlink_to(python)
    assert await bench.output(".venv/bin/python") == "its python\n"


async def test_tokens_in_an_installations_settings_are_covered(bench: Bench, home: Path) -> None:
    secret = secrets.token_hex(8)
    for version, name in (("node/v22.1.0", "etc/npmrc"), ("node/v20.1.0", "pip.conf")):
        prefix = home / ".nvm/versions" / version
        program(prefix / "bin/greet")
        (prefix / name).parent.mkdir(exist_ok=True)
        (prefix / name).write_text(secret)
    found = await bench.run(f"grep -r {secret} {home}/.nvm; cat {home}/.nvm/versions/node/*/etc/npmrc; greet")
    assert found.output == "it ran\n"


@pytest.mark.skipif(not AS_ROOT, reason="an ordinary user's machine is that user, who can read the file outside too")
async def test_of_a_folder_that_all_may_read_a_root_daemon_shows_no_file_that_they_may_not(
    bench: Bench, home: Path
) -> None:
    program(home / ".cargo/bin/tool", "for all")
    (home / ".cargo/bin/token").write_text("secret")
    (home / ".cargo/bin/token").chmod(0o600)
    program(home / "go/bin/own", "for the person").chmod(0o700)
    (home / "go/bin").chmod(0o700)
    ran = await bench.run(f"tool; own; cat {home}/.cargo/bin/token")
    assert ran.output.startswith("for all\nfor the person\n") and "Permission denied" in ran.output


@pytest.fixture
def below_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    if not os.access("/home", os.W_OK):
        pytest.skip("NOBODY BUT ROOT CAN MAKE A HOME, so toolchains below /home are not tested")
    made = Path(f"/home/stead-test-{secrets.token_hex(4)}")
    made.mkdir()
    monkeypatch.setenv("HOME", str(made))
    yield made
    shutil.rmtree(made)


async def test_a_home_below_home_is_shown_at_its_path_next_to_the_machines_own(bench: Bench, below_home: Path) -> None:
    program(below_home / ".cargo/bin/tool", "by its path")
    (below_home / "private").write_text("private")
    assert await bench.output(f"{below_home}/.cargo/bin/tool; tool; echo mine > ~/mine; ls ~; ls -A {below_home}/") == (
        f"by its path\nby its path\nmine\n{below_home.name}\n.cargo\n"
    )
    assert sorted(os.listdir(below_home)) == [".cargo", "private"]


async def test_what_a_machine_puts_where_the_link_was_leads_nowhere_and_stops_no_later_one(
    bench: Bench, below_home: Path, tmp_path: Path
) -> None:
    program(below_home / ".cargo/bin/tool", "by its path")
    (tmp_path / "outside").mkdir()
    for spoilt in (f"ln -s {tmp_path}/outside", "ln -s /space/layers", "mkdir", "touch"):
        assert (
            await bench.output(f"rm -rf ~/{below_home.name} && {spoilt} ~/{below_home.name} && echo spoilt")
            == "spoilt\n"
        )
        await bench.machines.kill(SESSION)
        assert await bench.output("echo starts") == "starts\n"
        assert os.listdir(tmp_path / "outside") == []
    await bench.output(f"rm ~/{below_home.name}")
    await bench.machines.kill(SESSION)
    assert await bench.output("tool") == "by its path\n"


async def test_a_machine_with_none_starts_as_ever(tmp_path: Path, home: Path) -> None:
    program(home / ".cargo/bin/tool")
    async with open_bench(tmp_path) as bench:
        assert (await bench.run("tool")).exit_code == 127


def test_settings_switch_them_off(tmp_path: Path, home: Path) -> None:
    program(home / ".cargo/bin/tool")
    (tmp_path / "s").mkdir()
    said = [BubblewrapMachines(Home(tmp_path / "s", toolchains=on)).isolation().statement for on in ((), None)]
    assert said[0].endswith(" Toolchains shown: Cargo.") and "Toolchains" not in said[1]


# -- what it is for -------------------------------------------------------------------------------------------------


async def test_what_pip_installs_is_on_the_path(bench: Bench) -> None:
    if subprocess.run(["/usr/bin/python3", "-m", "pip", "--version"], capture_output=True).returncode:
        pytest.skip("NO PIP OF THE SYSTEM HERE, so installing with it is not tested")
    with zipfile.ZipFile(bench.project / "greeter-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("greeter.py", "def main(): print('installed')")
        wheel.writestr("greeter-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: greeter\nVersion: 1\n")
        wheel.writestr("greeter-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("greeter-1.dist-info/entry_points.txt", "[console_scripts]\ngreeter = greeter:main\n")
        wheel.writestr("greeter-1.dist-info/RECORD", "")
    done = await bench.run(
        "/usr/bin/python3 -m pip install --no-index greeter-1-py3-none-any.whl && greeter; ls ~/.local"
    )
    assert done.output.endswith("installed\nbin\nlib\n"), done
    await bench.machines.kill(SESSION)
    assert await bench.output("greeter") == "installed\n"


@pytest.mark.skipif(not shutil.which("npm", path="/usr/bin"), reason="no npm in /usr/bin")
async def test_what_npm_installs_for_all_is_on_the_path(bench: Bench) -> None:
    (bench.project / "greeter").mkdir()
    (bench.project / "greeter/package.json").write_text('{"name":"greeter","version":"1.0.0","bin":"./greeter.js"}')
    program(bench.project / "greeter/greeter.js", "installed")
    done = await bench.run("npm install -g --offline ./greeter && greeter; npm config get cache", timeout_s=60)
    assert done.output.endswith("installed\n/home/.npm\n"), done


@pytest.mark.skipif(not shutil.which("node", path="/usr/bin"), reason="no Node in /usr/bin")
async def test_a_large_heap_and_web_assembly_run(bench: Bench) -> None:
    script = (
        "new WebAssembly.Memory({initial: 1000, maximum: 65536}); console.log(v8.getHeapStatistics().heap_size_limit)"
    )
    assert int(await bench.output(f"node --max-old-space-size=4096 -e '{script}'")) > 4 << 30


@pytest.mark.skipif(not shutil.which("java", path="/usr/bin"), reason="no Java in /usr/bin")
async def test_java_runs(bench: Bench) -> None:
    digest = 'java.security.MessageDigest.getInstance("SHA-256").digest().length'
    (bench.project / "M.java").write_text(
        f"class M {{ public static void main(String[] a) throws Exception {{ System.out.println({digest}); }} }}"
    )
    assert await bench.output("java -Xmx3g M.java") == "32\n"


async def test_a_commit_is_the_persons(bench: Bench) -> None:
    commit = "git init -q -b main /tmp/r && cd /tmp/r && echo a > a && git add a && git commit -qm one"
    assert await bench.output(f"{commit} && git switch -qc next && git log --format='%an %ae %s'") == (
        "Ada Muster ada@example.org one\n"
    )


async def test_many_files_can_be_open(bench: Bench) -> None:
    opened = "import os; print(len([os.open(os.devnull, os.O_RDONLY) for _ in range(4000)]))"
    assert await bench.output(f"python3 -c '{opened}'") == "4000\n"


async def test_the_time_zone_is_the_persons(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    assert await bench.output("date +%z") == "+1400\n"
