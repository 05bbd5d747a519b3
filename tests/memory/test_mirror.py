"""The folder of the files of memory, on a real file system."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import msgspec
import pytest

from stead.domain.errors import StorageFault
from stead.memory.files.codec import MOST_BYTES
from stead.memory.files.exchange import TEMPORARY, Rename, rename_at
from stead.memory.files.folder import Kept, MemoryFolder, Written

NAME = "global/user.md"
EXCHANGE = 2


@pytest.fixture
def mirror(tmp_path: Path) -> MemoryFolder:
    return opened(tmp_path / "files", tmp_path / "state.json")


def opened(root: Path, state: Path, rename: Rename = rename_at) -> MemoryFolder:
    """By a clock that is far from every file's time, so that none counts as half written."""
    return MemoryFolder(root, state, lambda: 0, rename)


def test_a_file_is_written_for_its_owner_alone_and_read_back(mirror: MemoryFolder) -> None:
    assert mirror.write(NAME, "- Ada lives in Bergen.\n", None)
    read = mirror.read(NAME)
    assert read is not None
    assert (read.text, read.why) == ("- Ada lives in Bergen.\n", "")
    assert mirror.stamps() == {NAME: read.stamp}
    modes = {path: path.stat().st_mode & 0o777 for path in (mirror.root, mirror.root / "global", mirror.root / NAME)}
    assert list(modes.values()) == [0o700, 0o700, 0o600]
    assert os.listdir(mirror.root / "global") == ["user.md"], "nothing half written stays"


def test_what_was_edited_meanwhile_is_not_replaced(mirror: MemoryFolder) -> None:
    mirror.write(NAME, "one\n", None)
    read = mirror.read(NAME)
    assert read is not None
    (mirror.root / NAME).write_text("the person's\n")
    assert not mirror.write(NAME, "two\n", read.stamp)
    assert not mirror.write(NAME, "two\n", None)
    assert (mirror.root / NAME).read_text() == "the person's\n"


def test_an_edit_between_the_look_and_the_exchange_has_its_place_again(tmp_path: Path) -> None:
    root = tmp_path / "files"
    edits = ["the person's\n"]

    def late(folder: int, one: str, other: str, how: int) -> None:
        if edits and how == EXCHANGE:  # an editor saves as editors do: a new file, renamed into the place
            (root / "global" / "user.md~").write_text(edits.pop())
            (root / "global" / "user.md~").rename(root / NAME)
        rename_at(folder, one, other, how)

    mirror = opened(root, tmp_path / "state.json", late)
    mirror.write(NAME, "one\n", None)
    read = mirror.read(NAME)
    assert read is not None
    assert not mirror.write(NAME, "two\n", read.stamp)
    assert (root / NAME).read_text() == "the person's\n"
    assert os.listdir(root / "global") == ["user.md"]


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "huge", "binary", "utf-16"])
def test_what_is_no_plain_text_is_told_and_never_followed(kind: str, mirror: MemoryFolder, tmp_path: Path) -> None:
    mirror.write(NAME, "one\n", None)
    path = mirror.root / NAME
    path.unlink()
    secret = tmp_path / "secret"
    secret.write_text("- the vault's combination\n")
    match kind:
        case "link":
            path.symlink_to(secret)
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "huge":
            path.write_bytes(b"- a\n" * MOST_BYTES)
        case "binary":
            path.write_bytes(b"\xff\xfe\x00\x80")
        case _:
            path.write_text("- Ada", "utf-16")
    read = mirror.read(NAME)
    assert read is not None
    assert read.why
    assert not read.text


def test_a_folder_swapped_for_a_link_leads_nowhere(mirror: MemoryFolder, tmp_path: Path) -> None:
    mirror.write(NAME, "one\n", None)
    elsewhere = tmp_path / "elsewhere"
    (mirror.root / "global").rename(elsewhere)
    (mirror.root / "global").symlink_to(elsewhere)
    assert mirror.stamps() == {}
    with pytest.raises(StorageFault, match="link"):
        mirror.read(NAME)
    with pytest.raises(StorageFault, match="link"):
        mirror.write(NAME, "two\n", None)
    assert (elsewhere / "user.md").read_text() == "one\n"


def test_the_folder_itself_may_be_no_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(StorageFault, match="name the folder itself"):
        opened(tmp_path / "link", tmp_path / "state").stamps()


@pytest.mark.parametrize("path", ["../out.md", "global/../../out.md", "/etc/out.md", "global//user.md"])
def test_no_path_leads_out(path: str, mirror: MemoryFolder, tmp_path: Path) -> None:
    with pytest.raises(StorageFault, match="no file of memory"):
        mirror.write(path, "x\n", None)
    assert not (tmp_path / "out.md").exists()


def test_a_folder_whose_place_is_gone_says_so(tmp_path: Path) -> None:
    with pytest.raises(StorageFault, match="make it, or choose another memory_folder"):
        opened(tmp_path / "gone" / "files", tmp_path / "state").stamps()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_folder_says_so(mirror: MemoryFolder) -> None:
    mirror.write(NAME, "one\n", None)
    (mirror.root / "global").chmod(0o500)
    with pytest.raises(StorageFault, match="change its permissions"):
        mirror.write("global/MEMORY.md", "two\n", None)
    (mirror.root / "global").chmod(0o700)


@pytest.mark.parametrize("moment", ["before", "after", "late edit", "late edit and another"])
def test_what_a_kill_left_is_cleared_away_but_for_an_edit(moment: str, mirror: MemoryFolder, tmp_path: Path) -> None:
    mirror.write(NAME, "one\n", None)
    read = mirror.read(NAME)
    assert read is not None
    path = mirror.root / NAME

    def dying(folder: int, one: str, other: str, how: int) -> None:
        if moment.startswith("late edit"):
            path.with_name("user.md~").write_text("the person's\n")
            path.with_name("user.md~").rename(path)
        if moment != "before":
            rename_at(folder, one, other, how)
        os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        opened(mirror.root, tmp_path / "state.json", dying).write(NAME, "two\n", read.stamp)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    if moment.endswith("another"):
        path.write_text("another\n")
    (mirror.root / "global" / ".hidden").write_text("the person's")
    opened(mirror.root, mirror.root / "state").stamps()
    names = sorted(os.listdir(mirror.root / "global"))
    texts = {name: (mirror.root / "global" / name).read_text() for name in names if name != ".hidden"}
    match moment:
        case "before":
            assert texts == {"user.md": "one\n"}
        case "after":
            assert texts == {"user.md": "two\n"}
        case "late edit":
            assert texts == {"user.md": "the person's\n"}
        case _:
            assert texts.pop("user.md") == "another\n"
            assert list(texts.values()) == ["the person's\n"]


def test_what_was_written_is_kept_and_a_damaged_note_of_it_begins_anew(mirror: MemoryFolder, tmp_path: Path) -> None:
    assert mirror.load() == Kept()
    kept = Kept({"global:global": "global"}, {NAME: Written(3, {"m_1": 2})}, 5)
    mirror.keep(msgspec.json.encode(kept))
    assert mirror.load() == kept
    assert (tmp_path / "state.json").stat().st_mode & 0o777 == 0o600
    (tmp_path / "state.json").write_text("{")
    assert mirror.load() == Kept()


def test_a_name_that_is_no_utf_8_is_told_and_never_worked_with(mirror: MemoryFolder) -> None:
    people = mirror.root / "global" / "people"
    people.mkdir(parents=True)
    odd = os.fsencode(people) + b"/Ren\xe9e.md"
    with open(odd, "w") as file:
        file.write("- Has the keys.\n")
    shown = "global/people/Ren\\xe9e.md"
    assert list(mirror.stamps()) == [shown]
    read = mirror.read(shown)
    assert read is not None
    assert (read.text, read.why) == ("", "its name is no UTF-8; rename it")
    mirror.write(NAME, "one\n", None)
    (mirror.root / "global" / f"{TEMPORARY}0123456789abcdef-0-0-0-0").write_text("an edit\n")
    os.mkdir(os.fsencode(mirror.root) + b"/workspaces")
    os.mkdir(os.fsencode(mirror.root) + b"/workspaces/caf\xe9")
    (people.parent / os.fsdecode(b"caf\xe9")).touch()
    assert list(opened(mirror.root, mirror.root).stamps()) == [shown, NAME]


def test_a_file_that_is_taken_away_is_gone_unless_somebody_edits_it_meanwhile(tmp_path: Path) -> None:
    mirror = opened(tmp_path / "files", tmp_path / "state.json")
    assert mirror.write(NAME, "one\n", None)
    stamp = mirror.stamps()[NAME]
    (mirror.root / NAME).write_text("the person's\n")
    assert not mirror.write(NAME, None, stamp)
    assert not mirror.write(NAME, None, None)
    assert (mirror.root / NAME).read_text() == "the person's\n"
    read = mirror.read(NAME)
    assert read is not None
    assert mirror.write(NAME, None, read.stamp)
    assert os.listdir(mirror.root / "global") == []


def test_words_are_looked_for_in_every_file_below_the_folder(mirror: MemoryFolder) -> None:
    mirror.write(NAME, "nothing of it\n", None)
    for name in ("global/edit-0123456789abcdef.txt", "global/user.md~", "global/.user.md.swp", "old/otter.bak"):
        (mirror.root / name).parent.mkdir(exist_ok=True)
        (mirror.root / name).write_bytes(b"\xff" * 100_000 + b"an otter")
    (mirror.root / "old" / "otters").mkdir()
    (mirror.root / "old" / "link").symlink_to("/etc/hostname")
    os.mkfifo(mirror.root / "old" / "pipe")
    left = mirror.left(lambda content: b"otter" in content)
    assert [line.partition(" ")[0] for line in left] == [
        "global/.user.md.swp",
        "global/edit-0123456789abcdef.txt",
        "global/user.md~",
        "old/link",
        "old/…",
        "old/pipe",
        "old/…",
    ]
    assert not any("otter" in line for line in left)


def test_what_changes_among_the_files_of_days_is_seen_however_an_editor_saves(mirror: MemoryFolder) -> None:
    journal = mirror.root / "global" / "journal"
    journal.mkdir(parents=True)
    days = [f"global/journal/2027-01-{number:02}.md" for number in range(1, 10)]
    for day in days:
        (mirror.root / day).write_text("- A line.\n")
    os.utime(journal, (1, 1))
    before = mirror.stamps()
    assert list(before) == days
    with (mirror.root / days[-1]).open("a") as newest:  # in place, which the folder does not show
        newest.write("- Mine.\n")
    assert [day for day, stamp in mirror.stamps().items() if stamp != before[day]] == [days[-1]]
    (mirror.root / "saved~").write_text("- Mine.\n")
    (mirror.root / "saved~").rename(mirror.root / days[0])
    (mirror.root / days[1]).unlink()
    after = mirror.stamps()
    assert [day for day in days if after.get(day) != before[day]] == [days[0], days[1], days[-1]]
