"""Sessions in folders that are not as they should be, and with models that are not: refused or bounded, and said so.

Whatever comes, the daemon lives, nothing is lost, and the session goes on.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.client import ApiError
from tests.fakes.faults import Fault, events, faulty_model, streams
from tests.fakes.http import Exchange, Request
from tests.fakes.models import Call, Turn
from tests.flows.conftest import shared_house as house
from tests.flows.house import LivingHome, use_model
from tests.flows.served import in_thread, served
from tests.flows.sitting import Sitting, files_of, sit_down
from tests.promises import promise
from tests.providers.chains import openai_problems

__all__ = ["house"]

PATIENCE_S = 60.0
"""For a busy machine."""


def write(path: str, text: str = "x\n") -> Turn:
    return Turn("", (Call("write", {"path": path, "text": text}),))


def shell(command: str) -> Turn:
    return Turn("", (Call("shell", {"command": command}),))


def results(desk: Sitting) -> list[tuple[str, str, str]]:
    """What every call came to: tool, outcome, text."""
    return [(body["tool"], body["outcome"], body["text"]) for body in desk.bodies("tool.finished")]


def refused(desk: Sitting, *words: str) -> str:
    """The refusal of a command of the command line."""
    done = desk.house.cli("session", *words)
    assert done.returncode == 2, (words, done.stdout, done.stderr)
    return done.stderr


# -- folders ----------------------------------------------------------------------------------------------------------


@promise("SES-1.confined")
def test_a_folder_that_shows_too_much_or_is_none_is_refused_with_the_reason(
    own_house: LivingHome, tmp_path: Path
) -> None:
    (tmp_path / ".ssh").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "inside").symlink_to(own_house.root / "data")
    head = own_house.get("/status")["head"]
    for directory, why in {
        "/": "belongs to the system",
        "/etc/ssl": "belongs to the system",
        str(tmp_path): "holds your home folder",
        str(own_house.root): "holds Stead's own home, or lies in it",
        str(own_house.root / "data"): "holds Stead's own home, or lies in it",
        str(tmp_path / "inside"): "holds Stead's own home, or lies in it",
        str(tmp_path / ".ssh"): "keys and settings live in the hidden folders",
        str(tmp_path / "file"): "is no folder",
        str(tmp_path / "loop"): "is no folder",
        str(tmp_path / "nowhere"): "is no folder",
        "project": "is not absolute",
        "": "is not absolute",
        f"{tmp_path}/a\0b": "is no path",
        "/" + "x" * 5000: "is no path",
    }.items():
        with pytest.raises(ApiError) as refusal:
            sit_down(own_house, Path(directory)) if directory else own_house.post("/sessions", {"directory": ""})
        assert refusal.value.status == 400 and why in str(refusal.value), (directory, refusal.value)
    assert own_house.get("/status")["head"] == head


@promise("SES-1.confined")
def test_a_session_sees_its_folder_and_nothing_beside_it(house: LivingHome, project: Path, tmp_path: Path) -> None:
    neighbour = tmp_path / "neighbour"
    neighbour.mkdir()
    (neighbour / "secret").write_text("marmalade-canary\n", "utf-8")
    (project / "way").symlink_to(neighbour)
    paths = [str(neighbour / "secret"), "../neighbour/secret", "way/secret", str(house.home.journal)]
    look = f"cat {' '.join(paths)}; ls -a /work/.. {tmp_path} {Path.home()}; grep -rs canary /tmp /root /home /work"
    reads = Turn("", tuple(Call("read", {"path": path}) for path in paths))
    writes = Turn("", tuple(Call("write", {"path": path, "text": "mine"}) for path in paths[:3]))
    with served([reads, writes, shell(look), Turn("Done.")]) as model:
        use_model(house, model.openai)
        desk = sit_down(house, project)
        desk.turn("look around", timeout_s=PATIENCE_S)
    told = results(desk)
    assert {outcome for tool, outcome, _ in told if tool != "shell"} <= {"denied", "error"}
    assert told[-1][:2] == ("shell", "error")  # it ran, and found nothing
    assert all("marmalade-canary" not in text for _, _, text in told)
    assert (neighbour / "secret").read_text("utf-8") == "marmalade-canary\n"


def test_a_folder_that_vanishes_and_comes_back_costs_a_few_refusals(
    house: LivingHome, project: Path, tmp_path: Path
) -> None:
    script = (write("one.md"), Turn("One."), write("two.md"), Turn("It is gone."), write("three.md"), Turn("Three."))
    with served(script) as model:
        use_model(house, model.openai)
        desk = sit_down(house, project)
        desk.turn("one")
        first = desk.items("checkpoints")[0]["id"]
        before = files_of(project)
        project.rename(tmp_path / "away")
        end = desk.turn("two")
        assert (end["reason"], end["changes"]) == ("done", [])
        tool, outcome, text = results(desk)[-1]
        assert (tool, outcome) == ("write", "error") and "is no longer the folder that was chosen" in text
        for words in (("checkpoint", desk.id), ("restore", desk.id, first), ("diff", desk.id)):
            assert "no folder that can be read" in refused(desk, *words)
        with pytest.raises(ApiError, match="no folder that can be read"):
            desk.undo(desk.items("changes")[0])
        assert not project.exists()  # nobody made another one in its place
        (tmp_path / "away").rename(project)
        assert files_of(project) == before
        assert desk.turn("three")["reason"] == "done"
        # The refusal quoted what is not Stead's own, so from then on everything waits for the person.
        assert desk.waiting().keys() == {"three.md"} and files_of(project) == before
        desk.apply()
        assert files_of(project).keys() == {*before, "three.md"}
        desk.restore(first)
        assert set(files_of(project)) == {"README.md"}


ODD = [b"new\nline", b"esc\x1b[31m", b"bell\x07", b"caf\xe9", "\u202eevil".encode(), b"-rf", b" ", b"*", b"\\", b"q'\""]


def test_links_that_loop_odd_names_and_files_too_large_harm_nothing(house: LivingHome, project: Path) -> None:
    raw = os.fsencode(project) + b"/"
    for name in ODD:
        Path(os.fsdecode(raw + name)).write_text("was\n", "utf-8")
    for link, target in {"self": "self", "one": "two", "two": "one", "up": "..", "out": "/etc", "dead": "gone"}.items():
        (project / link).symlink_to(target)
    (project / "binary").write_bytes(bytes(range(256)) * 40)
    with (project / "huge").open("wb") as file:
        file.truncate((2 << 30) + 1)  # sparse: it takes no room
    before = files_of(project, "huge")
    looks = ("binary", "self", "huge", "out/passwd", "up/README.md")
    changes = Turn(
        "",
        (
            Call("edit", {"path": "binary", "old": "a", "new": "b"}),
            Call("write", {"path": "out/passwd", "text": "root"}),
            Call("write", {"path": "new\nline", "text": "is\n"}),
        ),
    )
    everything = "find . -maxdepth 1 -type f -size -2M -exec sh -c 'echo is >> \"$0\"' {} ';'; rm one self; mkdir self"
    reads = Turn("", tuple(Call("read", {"path": path}) for path in looks))
    with served([reads, changes, shell(everything), Turn("Done.")]) as model:
        use_model(house, model.openai)
        desk = sit_down(house, project)
        assert desk.turn("go", timeout_s=PATIENCE_S)["reason"] == "done"
    said = [text for _, outcome, text in results(desk) if outcome == "error"]
    assert [text.partition(";")[0].partition(" (")[0] for text in said] == [
        "'binary' is no UTF-8 text",
        "'self': Too many levels of symbolic links",
        "'huge' is larger than 16 MB",
        "'out/passwd' leads out of the workspace",
        "'up/README.md': No such file or directory",  # what is above is not there
        "'binary' is no UTF-8 text",
        "'out/passwd' leads out of the workspace",
    ]
    [taken] = desk.bodies("checkpoint.taken")
    assert {"path": "huge", "why": "it is larger than 2 GB"} in taken["left_out"]
    changed = desk.bodies("turn.ended")[0]["changes"]
    clear = [name for name in ODD if os.fsdecode(name).isprintable()]
    assert len(changed) == len([*clear, "README.md", "binary", "one", "the link self", "the folder self"])
    assert all(change["path"].isprintable() for change in changed)
    # A name that cannot be shown as it is lands in nobody's folder; the person and the model are told.
    hidden = {name for name in ODD if name not in clear}
    refused_now = [{one["path"] for one in body["landing"]["refused"]} for body in desk.bodies("changes.landed")]
    assert [len(paths) for paths in refused_now] == [1, len(hidden)] and all(map(str.isprintable, refused_now[1]))
    assert "no readable text" in results(desk)[-1][2]
    for name in ODD:
        content = Path(os.fsdecode(raw + name)).read_text("utf-8")
        assert content == ("was\n" if name in hidden else "was\nis\n"), name
    assert not desk.restore(desk.items("checkpoints")[0]["id"])["failed"]
    assert files_of(project, "huge") == before
    assert (project / "huge").stat().st_size == (2 << 30) + 1


@pytest.fixture
def crowded(project: Path) -> Iterator[Path]:
    """A project with a million files; many names for few files, so that it is soon made."""
    for start in range(0, 1_000_000, 10_000):
        folder = project / f"crowd-{start}"
        folder.mkdir()
        (folder / "0").touch()
        for at in range(1, 10_000):
            os.link(folder / "0", folder / str(at))
    yield project
    subprocess.run(["rm", "-rf", str(project)], check=True, timeout=100)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_folder_with_too_many_files_is_worked_in_and_what_a_call_names_is_kept_all_the_same(
    house: LivingHome, crowded: Path
) -> None:
    calls = (Call("write", {"path": "README.md", "text": "new\n"}), Call("glob", {"pattern": "**/1"}))
    with served([Turn("", calls), shell("echo more >> README.md"), Turn("Done.")]) as model:
        use_model(house, model.openai)
        desk = sit_down(house, crowded)
        before = (crowded / "README.md").read_bytes()
        assert desk.turn("go", timeout_s=4 * PATIENCE_S)["reason"] == "done"
        [failed] = desk.bodies("checkpoint.failed")
        assert "has more than 200,000 files" in failed["why"] and "ignore patterns" in failed["why"]
        assert [outcome for _, outcome, _ in results(desk)] == ["ok", "ok", "ok"]
        assert "has more than 200,000 files" in refused(desk, "checkpoint", desk.id)
        [change] = desk.items("changes")
        (crowded / "README.md").write_text("new\n", "utf-8")  # as the call left it
        desk.undo(change)
        assert (crowded / "README.md").read_bytes() == before
        # As the refusal says: with what need not be kept left out, it is kept as a whole.
        wise = sit_down(house, crowded, ignore=["crowd-*/"])
        assert wise.checkpoint()["files"] == 1


@pytest.fixture
def unprivileged(tmp_path: Path) -> Iterator[LivingHome]:
    """A home whose daemon may not read what modes forbid, also when the tests are run by root."""
    living = LivingHome(tmp_path / "home", module="tests.flows.unprivileged_daemon")
    try:
        living.start()
        yield living
    finally:
        living.stop()


def test_a_folder_that_may_not_be_read_is_refused_and_what_in_it_may_not_be_is_kept(
    unprivileged: LivingHome, project: Path
) -> None:
    house = unprivileged
    (project / "closed").mkdir()
    (project / "closed" / "inner").touch()
    (project / "secret").write_text("s\n", "utf-8")
    sealed = (project / "closed", project / "secret")
    for path in sealed:
        path.chmod(0)
    try:
        desk = sit_down(house, project)
        kept = desk.checkpoint()
        assert (kept["files"], kept["left_out"]) == (3, [])
        project.chmod(0)
        assert "no folder that can be read (Permission denied)" in refused(desk, "checkpoint", desk.id)
        with pytest.raises(ApiError, match="may not be read by Stead's user; change its mode"):
            sit_down(house, project)
        project.chmod(0o755)
        assert desk.checkpoint()["files"] == 3
    finally:
        project.chmod(0o755)
        for path in sealed:
            path.chmod(0o755)


# -- edits ------------------------------------------------------------------------------------------------------------


def test_edits_that_do_not_fit_change_nothing_and_say_what_would(house: LivingHome, project: Path) -> None:
    before = files_of(project)
    calls = {
        ("edit", "error", "Nearest are these lines:\n5: ## Install"): {
            "path": "README.md",
            "old": "## Instal\n",
            "new": "",
        },
        ("edit", "error", "occurs 2 times in 'README.md'; give more"): {"path": "README.md", "old": "##", "new": ""},
        ("edit", "error", "'gone.md': No such file"): {"path": "gone.md", "old": "a", "new": "b"},
        ("edit", "denied", "fix them and call again"): {"path": "README.md", "old": "", "new": "b"},
    }
    asked = Turn("", tuple(Call(tool, arguments) for (tool, _, _), arguments in calls.items()))
    with served([asked, Turn("They did not fit.")]) as model:
        use_model(house, model.openai)
        desk = sit_down(house, project)
        end = desk.turn("go")
    assert (end["reason"], end["changes"]) == ("done", [])
    for (tool, outcome, text), wanted in zip(results(desk), calls, strict=True):
        assert (tool, outcome) == wanted[:2] and wanted[2] in text
    assert files_of(project) == before
    assert not desk.items("changes")
    assert not model.flaws


# -- the store --------------------------------------------------------------------------------------------------------


@promise("WS-3.checkpoint")
def test_a_damaged_store_names_what_is_lost_and_gives_back_everything_else(
    own_house: LivingHome, project: Path
) -> None:
    for name in ("first", "second", "third"):
        (project / name).write_bytes(random.Random(name).randbytes(20_000))
    before = files_of(project)
    script = (
        shell("echo more | tee -a first second third >> README.md"),
        Turn("Done."),
        write("last.md"),
        Turn("Done."),
    )
    with served(script) as model:
        use_model(own_house, model.openai)
        desk = sit_down(own_house, project)
        desk.turn("go")
        checkpoint = desk.items("checkpoints")[0]["id"]
        own_house.stop()
        [pack] = (own_house.root / "data" / "contents" / "packs").iterdir()
        with pack.open("r+b") as file:
            file.seek(pack.stat().st_size // 2)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 1]))
        own_house.start()
        done = desk.restore(checkpoint, "--files", code=1)  # not all of it could be done
        [lost] = done["failed"]
        assert lost["path"] in before and "damaged" in lost["why"]
        after = files_of(project)
        assert {path for path in before if after[path] != before[path]} == {lost["path"]}
        assert after[lost["path"]][1].endswith(b"more\n")  # what could not be had back stays as it was
        assert desk.turn("go on")["reason"] == "done"
        assert (project / "last.md").exists()


# -- models -----------------------------------------------------------------------------------------------------------


def half_a_call() -> Fault:
    """A call whose arguments end in the middle, and no more."""
    return streams(turn=write("half.md", "x" * 100), skip=6, then="drop")


def the_same_id_twice() -> Fault:
    """Two calls with one id between them; the next reply has that id once more."""
    turn = Turn("", (Call("read", {"path": "README.md"}), Call("glob", {"pattern": "*.md"})))

    async def fault(request: Request, exchange: Exchange) -> None:
        twins = [event.replace(b"call_x0_1", b"call_x0_0") for event in events(request, turn)]
        await streams(*twins)(request, exchange)

    return fault


@pytest.mark.long
def test_a_model_that_stammers_is_understood_or_asked_again_and_its_chain_stays_whole(
    house: LivingHome, project: Path
) -> None:
    unknown = Turn("", (Call("teleport", {"to": "moon"}), Call("", {}), Call("read", "{nonsense"), Call("read", "[1]")))
    faults = (
        streams(turn=unknown),
        the_same_id_twice(),
        streams(turn=write("once.md")),
        half_a_call(),
        streams(turn=Turn("Done.")),
    )
    with in_thread(faulty_model(*faults)) as model:
        use_model(house, model.openai)
        desk = sit_down(house, project, allow=["write"])
        end = desk.turn("go", timeout_s=PATIENCE_S)
        assert end["reason"] == "done", end
        sent = [json.loads(request.body)["messages"] for request in model.requests if b"messages" in request.body]
    assert not (project / "half.md").exists()
    assert (project / "once.md").read_text("utf-8") == "x\n"
    told = [(tool, outcome) for tool, outcome, _ in results(desk)]
    assert told == [
        ("teleport", "denied"), ("", "denied"), ("read", "denied"), ("read", "denied"),
        ("read", "ok"), ("glob", "ok"), ("write", "ok"),
    ]  # fmt: skip
    assert len(desk.bodies("model.failed")) == 1
    for messages in sent:
        assert not openai_problems({"messages": messages}), messages
