"""Sessions in folders that are not as they should be, and with models that are not: refused or bounded, and said so.

Whatever comes, the daemon lives, nothing is lost, and the session goes on.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from stead.client import ApiError
from tests.fakes.faults import Fault, events, faulty_model, streams
from tests.fakes.http import Exchange, Request
from tests.fakes.models import Call, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import in_thread, served
from tests.flows.sitting import Sitting, files_of, sit_down
from tests.promises import promise
from tests.providers.chains import openai_problems

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
def test_a_folder_that_shows_too_much_or_is_none_is_refused_with_the_reason(house: LivingHome, tmp_path: Path) -> None:
    (tmp_path / ".ssh").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "inside").symlink_to(house.root / "data")
    head = house.get("/status")["head"]
    for directory, why in {
        "/": "belongs to the system",
        "/etc/ssl": "belongs to the system",
        str(tmp_path): "holds your home folder",
        str(house.root): "holds Stead's own home, or lies in it",
        str(house.root / "data"): "holds Stead's own home, or lies in it",
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
            sit_down(house, Path(directory)) if directory else house.post("/sessions", {"directory": ""})
        assert refusal.value.status == 400 and why in str(refusal.value), (directory, refusal.value)
    assert house.get("/status")["head"] == head


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
        assert (project / "three.md").exists()
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
    assert len(changed) == len([*ODD, "README.md", "binary", "one", "the link self", "the folder self"])
    assert all(change["path"].isprintable() for change in changed)
    assert not desk.restore(desk.items("checkpoints")[0]["id"])["failed"]
    assert files_of(project, "huge") == before
    assert (project / "huge").stat().st_size == (2 << 30) + 1


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
        ("edit", "denied", "mend them and call again"): {"path": "README.md", "old": "", "new": "b"},
        ("patch", "error", "At line 5 the file has '## Install'"): {
            "path": "README.md",
            "diff": "@@ -3,3 +3,3 @@\n Notes.\n \n-## Instal\n+## Setup\n",
        },
        ("patch", "error", "a hunk begins with @@"): {"path": "README.md", "diff": "replace it all"},
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
def test_a_damaged_store_names_what_is_lost_and_gives_back_everything_else(house: LivingHome, project: Path) -> None:
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
        use_model(house, model.openai)
        desk = sit_down(house, project)
        desk.turn("go")
        checkpoint = desk.items("checkpoints")[0]["id"]
        house.stop()
        [pack] = (house.root / "data" / "contents" / "packs").iterdir()
        with pack.open("r+b") as file:
            file.seek(pack.stat().st_size // 2)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 1]))
        house.start()
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
