"""Pictures and documents, as a person gives them and as tools read them: to a model, to the page, and gone again."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path

import pytest

from stead.client import ApiError
from tests.browsing.bench import require_chromium
from tests.cli.conftest import Cli
from tests.cli.terminal import at_terminal
from tests.fakes.models import Call, Turn
from tests.fakes.pictures import EXIF, chunk, pdf, png
from tests.flows.conftest import shared_house as house
from tests.flows.house import LivingHome, use_model
from tests.flows.served import served
from tests.flows.sitting import sit_down
from tests.promises import promise

__all__ = ["house"]

PROMPT = "you> "
PLAN = png(40, 30, chunk(b"eXIf", EXIF))


def upload(house: LivingHome, name: str, data: bytes) -> dict[str, object]:
    """What the door makes of a file."""
    made: dict[str, object] = house.post("/attachments", {"name": name, "data": b64encode(data).decode()})
    return made


@promise("LLM-7.message", "LLM-7.metadata")
def test_a_picture_that_a_person_attaches_is_seen_by_the_model_kept_once_and_erased_with_the_session(
    house: LivingHome, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "plan.png").write_bytes(PLAN)
    (tmp_path / "offer.pdf").write_bytes(pdf(3, packed=True))
    with served([Turn("A red one."), Turn("The same.")]) as server:
        use_model(house, server.openai)
        desk = sit_down(house, project)
        options = ("--attach", str(tmp_path / "plan.png"), "--attach", str(tmp_path / "offer.pdf"))
        done = house.cli("session", "send", desk.id, "What is it?", *options, "--wait")
        assert done.returncode == 0 and "[plan.png] [offer.pdf]" in done.stdout, (done.stdout, done.stderr)
        desk.say("And this?", attachments=[upload(house, "again.png", PLAN)["content"]])
        desk.rest()
        sent = [seen.prompt.decode() for seen in server.requests()]
    assert b64encode(png(40, 30)).decode() in sent[0] and "plan.png" in sent[0] and "offer.pdf, 3 pages" in sent[0]
    assert sent[1].startswith(sent[0][: sent[0].index('"role": "assistant"')] if "assistant" in sent[0] else sent[0])
    first, second = desk.bodies("message.received")
    picture, document = first["attachments"]
    assert (picture["media_type"], picture["width"], picture["height"]) == ("image/png", 40, 30)
    assert (document["media_type"], document["pages"]) == ("application/pdf", 3)
    assert second["attachments"][0]["content"] == picture["content"]  # stored once
    assert house.client().content(f"/attachments/{picture['content']}") == png(40, 30)
    assert b64encode(png(40, 30)[:60]).decode() not in json.dumps(desk.events())  # no bytes in events
    house.post(f"{desk.path}/close")
    house.post(f"{desk.path}/delete", {"now": True})
    with pytest.raises(ApiError, match="not kept"):
        house.client().content(f"/attachments/{picture['content']}")


@promise("LLM-7.read", "LLM-7.wires")
@pytest.mark.parametrize("wire", ["openai", "anthropic", "google"])
def test_reading_a_picture_shows_it_to_the_model_under_the_label_of_the_file(
    wire: str, house: LivingHome, project: Path
) -> None:
    (project / "plan.txt").write_bytes(PLAN)  # the content decides, not the name
    (project / "offer.pdf").write_bytes(pdf(2))
    reads = tuple(Call("read", {"path": path}) for path in ("plan.txt", "offer.pdf", "README.md"))
    with served([Turn(calls=reads), Turn("Seen.")]) as server:
        use_model(house, getattr(server, wire), preset="compatible" if wire == "openai" else wire)
        desk = sit_down(house, project)
        assert desk.turn("Look at the plan.")["reason"] == "done"
        assert server.flaws == []
        first, last = (seen.prompt for seen in server.requests())
    assert last.startswith(first) and b64encode(png(40, 30)) in last and b64encode(pdf(2)) in last
    plan, offer, readme = desk.bodies("tool.finished")
    assert (plan["attachments"][0]["width"], offer["attachments"][0]["pages"], readme["attachments"]) == (40, 2, [])
    assert (plan["label"], plan["source"]) == (readme["label"], readme["source"])


@promise("LLM-7.refused", "LLM-7.named")
def test_a_model_that_takes_no_pictures_goes_on_with_their_names(house: LivingHome, project: Path) -> None:
    with served([Turn(status=400, error="no image input here"), Turn("I have its name.")]) as server:
        use_model(house, server.openai)
        desk = sit_down(house, project)
        desk.say("What is it?", attachments=[upload(house, "plan.png", PLAN)["content"]])
        desk.rest()
        sent = server.requests()[-1].prompt.decode()
    assert "[picture plan.png 40x30, not shown: the provider refused it]" in sent
    (reply,) = desk.bodies("model.replied")
    assert "no image input here" in reply["attempts"][0]


@promise("LLM-7.limits")
def test_large_pictures_are_scaled_in_a_machine_and_documents_with_too_many_pages_refused(house: LivingHome) -> None:
    require_chromium()
    made = upload(house, "photo.png", png(4000, 1000, chunk(b"eXIf", EXIF)))
    assert (made["width"], made["height"]) == (1568, 392)
    kept = house.client().content(f"/attachments/{made['content']}")
    assert len(kept) == made["size_bytes"] and EXIF not in kept
    for name, data, why in (
        ("many.pdf", pdf(10_000, packed=True), "has 10000 pages and may have 100"),
        ("huge.png", png(1, 1).replace((1).to_bytes(4, "big") * 2, (10_000).to_bytes(4, "big") * 2), "10000x10000"),
        ("lie.gif", b"GIF89a" + bytes(40), "could not be decoded"),
        ("locked.pdf", pdf(1) + b"/Encrypt 4 0 R", "encrypted"),
        ("page.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "only PNG"),
        ("large.png", bytes(20_000_001), "20000000"),
    ):
        with pytest.raises(ApiError, match=why):
            upload(house, name, data)


def test_any_file_of_the_folder_is_copied_out_byte_for_byte(house: LivingHome, project: Path, tmp_path: Path) -> None:
    (project / "made").mkdir()
    (project / "made" / "out.bin").write_bytes(bytes(range(256)))
    with served([]) as server:
        use_model(house, server.openai)
        desk = sit_down(house, project)
    done = house.cli("session", "get", desk.id, "made/out.bin", "-o", str(tmp_path / "got"))
    assert done.returncode == 0 and (tmp_path / "got").read_bytes() == bytes(range(256)), done.stderr
    again = house.cli("session", "get", desk.id, "made/out.bin", "-o", str(tmp_path / "got"))
    assert again.returncode != 0 and "cannot be written" in again.stderr


@promise("LLM-7.message")
def test_every_command_that_says_something_takes_files_along(house: LivingHome, project: Path) -> None:
    (project / "plan.png").write_bytes(PLAN)
    with served([Turn("A red one."), Turn("A red one.")]) as server:
        use_model(house, server.openai)
        ran = house.cli("run", "What is it?", "--attach", "plan.png", cwd=project)
        assert ran.returncode == 0, ran.stderr
        new = house.cli("session", "new", "-m", "What is it?", "--attach", "plan.png", cwd=project)
        assert new.returncode == 0, new.stderr
        house.until(lambda: len(server.requests()) == 2, "both to be asked")
        for seen in server.requests():
            assert b64encode(png(40, 30)) in seen.prompt and b"plan.png" in seen.prompt
    gone = house.cli("run", "What is it?", "--attach", "nowhere.png", cwd=project)
    assert gone.returncode == 2 and "cannot be read" in gone.stderr


@promise("LLM-7.message")
def test_a_file_that_a_line_at_the_terminal_names_goes_with_it_and_is_said_by_name(
    house: LivingHome, project: Path
) -> None:
    (project / "plan.png").write_bytes(PLAN)
    with served([Turn("A red one.")]) as server:
        use_model(house, server.openai)
        desk = sit_down(house, project)
        with at_terminal(Cli(house.home, project), "session", "attach", desk.id, NO_COLOR="1") as terminal:
            terminal.shows(PROMPT)
            terminal.type("What is on @plan.png and on @nowhere.png\r")
            terminal.shows("A red one.")
            terminal.type("\x04")
        (seen,) = server.requests()
    assert b64encode(png(40, 30)) in seen.prompt
    (said,) = desk.bodies("message.received")
    assert [one["name"] for one in said["attachments"]] == ["plan.png"]
    assert "[plan.png]" in house.cli("session", "attach", desk.id).stdout
