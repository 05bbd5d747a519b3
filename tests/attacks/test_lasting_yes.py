"""A lasting yes to code in files ends with those files and with its session; it is no yes to another program."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from stead.client import ApiError
from stead.domain.ends import WELL
from stead.domain.ids import CallKey, SessionId
from stead.domain.policies import Allow, Ask, Profile, Risk
from stead.domain.sessions import Grant
from stead.guardian.decide import Facts, Proposed, decide
from stead.guardian.permits import Circumstances
from stead.guardian.reach import Reach
from stead.guardian.shell import assess
from tests.build import SESSION, TOOLS
from tests.fakes.models import Call, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, served
from tests.machines.bench import require_sandbox

SPECS = {spec.name: spec for spec in TOOLS}
LATER = 2**62
NAMED = {
    "python3 build.py": "build.py",
    "python3 ./build.py": "build.py",
    "python3 /work/build.py": "build.py",
    "python3 ../work/build.py": "build.py",
    "python3 'build.py'": "build.py",
    "python3 Build.py": "Build.py",
    "bash scripts/x.sh": "scripts/x.sh",
    "sh x.sh --fast": "x.sh",
    "./run": "run",
    "sub/run": "sub/run",
    "node a.js": "a.js",
    "timeout 5 python3 build.py": "build.py",
    "cd sub && python3 build.py": "sub/build.py",
    "python3 build.py && ls": "build.py",
    "sh -c 'python3 build.py'": "build.py",
    "pytest tests/test_a.py": "tests/test_a.py",
}
UNNAMED = ["make", "npm test", "pytest -q", "python3 -m pkg", "cargo test", "make test"]


def judged(command: str, files: dict[str, str] | None = None, session: SessionId = SESSION, *grants: Grant) -> object:
    """The verdict on a command whose named files are so; a file that is not given is not there."""
    shell = assess(command)
    inside = [path for path in shell.paths if not path.startswith(("/", ".."))]
    place = Circumstances(session, CallKey("c"), "/home/ada/shop", 0, dict.fromkeys(inside, "absent") | (files or {}))
    facts = Facts(
        circumstances=place,
        offered=frozenset(SPECS),
        profile=Profile.ASK,
        grants=grants,
        approved="",
        reach=Reach(),
        machine="",
        digest_key=b"k" * 32,
        nonce=b"n" * 16,
    )
    return decide(Proposed("shell", SPECS["shell"], {"command": command}, "", shell), facts)


def granted(command: str, files: dict[str, str] | None = None) -> Grant:
    """What a lasting yes to this command makes."""
    asked = judged(command, files)
    assert isinstance(asked, Ask) and asked.shape and asked.bound, asked
    return Grant("shell", asked.shape, LATER, (), asked.bound)


@pytest.mark.parametrize(("command", "path"), NAMED.items())
def test_it_covers_the_command_while_its_file_is_the_same_and_lapses_when_that_changes(command: str, path: str) -> None:
    then = {path: "a" * 64}
    grant = granted(command, then)
    assert isinstance(judged(command, then, SESSION, grant), Allow)
    for now in ("b" * 64, "absent", "folder", "unreadable"):
        assert isinstance(judged(command, {path: now}, SESSION, grant), Ask), now


@pytest.mark.parametrize("command", [*NAMED, *UNNAMED])
def test_it_ends_with_its_session_and_an_old_one_without_fingerprints_covers_nothing(command: str) -> None:
    grant = granted(command)
    assert isinstance(judged(command, None, SESSION, grant), Allow)
    assert isinstance(judged(command, None, SessionId("s_" + "f" * 16), grant), Ask), "a fork, a later objective"
    old = msgspec.structs.replace(grant, bound="")
    assert isinstance(judged(command, None, SESSION, old), Ask), "as it was made before files were bound"


@pytest.mark.parametrize(
    "command",
    ["python3 /tmp/x.py", "bash /home/x.sh", "sh /dev/shm/x", "/tmp/run", "python3 /proc/self/fd/0", "sh /var/x"],
)
def test_a_file_that_nobody_can_watch_is_asked_about_each_time(command: str) -> None:
    asked = judged(command)
    assert isinstance(asked, Ask) and asked.shape == ""
    forged = Grant("shell", f"shell:{assess(command).shape}", LATER, (), asked.bound)
    assert isinstance(judged(command, None, SESSION, forged), Ask)


def test_a_file_beyond_those_that_are_looked_at_is_asked_about_each_time() -> None:
    command = "python3 " + " ".join(f"f{at}.py" for at in range(60))
    place = Circumstances(SESSION, CallKey("c"), "/home/ada/shop", 0, {f"f{at}.py": "a" * 64 for at in range(50)})
    from stead.guardian.shapes import UNTOLD, bound_to

    assert bound_to(assess(command), place, b"k" * 32) == UNTOLD


@pytest.mark.parametrize("command", ["rm old.txt", "mkdir out", "cp a b", "curl https://example.com/"])
def test_what_runs_no_code_from_files_is_bound_to_nothing(command: str) -> None:
    asked = judged(command)
    assert isinstance(asked, Ask) and asked.shape and asked.bound == "" and asked.risk in (Risk.MEDIUM, Risk.HIGH)


# -- through a real daemon --------------------------------------------------------------------------------------------

RUN = Turn("", calls=(Call("shell", {"command": "python3 build.py"}),))


def write(text: str, path: str = "build.py") -> Turn:
    return Turn("", calls=(Call("write", {"path": path, "text": text}),))


def questions(house: LivingHome, id: str) -> list[tuple[str, str]]:
    return [(body["tool"], body["bound"][:1] and "bound") for body in house.bodies(id, "approval.requested")]


def test_two_ordinary_yeses_are_no_yes_to_every_program(house: LivingHome, project: Path) -> None:
    require_sandbox()
    (project / "build.py").write_text("print('building')\n")
    turns = [
        RUN,
        RUN,
        write("print('building 2')\n"),
        write("print('ANYTHING')\n"),
        RUN,
        write("print(3)\n", "other.py"),
        RUN,
    ]
    with served(by_turn(*turns, then=Turn("Done."))) as model:
        use_model(house, model.openai)
        id = house.give("build it", project)
        house.wait(id, "waiting")
        (asked,) = house.get("/approvals", session=id)["items"]
        with pytest.raises(ApiError, match="for this session alone"):
            body = {"answer": "project", "digest": asked["digest"], "whole": True}
            house.post(f"/approvals/{asked['id']}/decision", body)
        assert house.finish(id)["status"] in WELL
    assert questions(house, id) == [("shell", "bound"), ("write", ""), ("shell", "bound")], (
        "asked anew for the new file"
    )
    rules = [body["reason"]["rule"] for body in house.bodies(id, "call.judged") if body["verdict"] == "allow"]
    assert rules.count("granted") == 4, "the same file again, the second and third write, and the run after it"
    house.kill()
    house.start()
    with served(by_turn(RUN, then=Turn("Done."))) as model:
        use_model(house, model.openai, name="later")
        later = house.give("build it again", project)
        assert house.finish(later, answer="deny")["status"] in ("answered", "failed")
    assert questions(house, later) == [("shell", "bound")], "and in a later objective of the folder"
