"""Edits and updates at once, and kills at every step: no word of the person's is lost."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stead.domain import events as ev
from stead.domain.memory import Standing
from stead.domain.memory_ports import RowsWanted
from stead.memory.files.exchange import FileRead, Stamp, rename_at
from stead.memory.files.folder import MemoryFolder
from tests.memory.saying import memory
from tests.runtime.mirror_room import MirrorRoom

USER, ALL = "global/user.md", "global/MEMORY.md"
ROUNDS = int(os.environ.get("MIRROR_ROUNDS", "60"))
STATUS: tuple[Standing, ...] = ("live", "superseded", "expired", "retired")
_COMMENT = re.compile(r" <!-- .*?-->")


class Interrupted(MemoryFolder):
    """A folder in which something happens at chosen moments: around reads, writes and notes."""

    def __init__(self, root: Path, state: Path, now_ms: Callable[[], int]) -> None:
        super().__init__(root, state, now_ms, self._renamed)
        self.meanwhile: Callable[[str], None] = lambda moment: None

    def _renamed(self, folder: int, one: str, other: str, how: int) -> None:
        self.meanwhile("exchange")
        rename_at(folder, one, other, how)

    def read(self, path: str) -> FileRead | None:
        self.meanwhile("read")
        return super().read(path)

    def write(self, path: str, text: str | None, seen: Stamp | None) -> bool:
        self.meanwhile("write")
        done = super().write(path, text, seen)
        self.meanwhile("written")
        return done

    def keep(self, content: bytes) -> None:
        self.meanwhile("keep")
        super().keep(content)


@pytest.fixture
def room(tmp_path: Path) -> Iterator[MirrorRoom]:
    room = MirrorRoom(tmp_path, Interrupted, first=100_000)
    yield room
    room.close()


class Editor:
    """A person who edits at random, sometimes with a file that they opened a while ago.

    Args:
        room: whose files.
        dice: see there.
    """

    def __init__(self, room: MirrorRoom, dice: random.Random) -> None:
        self._room = room
        self._dice = dice
        self._number = 0
        self._opened: dict[str, str] = {}
        self.wrote: set[str] = set()
        """Words of theirs that have to be somewhere."""

    def act(self) -> None:
        path = self._dice.choice((USER, ALL))
        target = self._room.root / path
        now = target.read_text("utf-8") if target.exists() else "# Mine\n"
        text = self._opened.pop(path, now) if self._dice.random() < 0.3 else now
        if self._dice.random() < 0.3:
            self._opened[path] = now
        lines = text.split("\n")
        bullets = [at for at, line in enumerate(lines) if line.startswith(("- ", "* "))]
        self._number += 1
        words = f"Word {self._number} of the person."
        match self._dice.randrange(5):
            case 0 | 1:
                lines.insert(self._dice.randrange(1, len(lines) + 1), f"- {words}")
                self.wrote.add(words)
            case 2 if bullets:
                at = self._dice.choice(bullets)
                self.wrote.discard(_COMMENT.sub("", lines[at])[2:])
                comment = "".join(_COMMENT.findall(lines[at]))
                lines[at] = f"- {words}{comment}"
                self.wrote.add(words)
            case 3 if bullets:
                at = self._dice.choice(bullets)
                self.wrote.discard(_COMMENT.sub("", lines.pop(at))[2:])
            case _ if len(bullets) > 1:
                one, other = self._dice.sample(bullets, 2)
                lines[one], lines[other] = lines[other], lines[one]
            case _:
                lines.append("Plain words.")
        kept = "\n".join(lines)
        for words in list(self.wrote):  # what this editor's old state never had was written over by the person
            if words not in kept and words in now:
                self.wrote.discard(words)
        self._room.edit(path, kept)


async def test_no_edit_is_lost_however_edits_and_updates_meet(room: MirrorRoom) -> None:
    dice = random.Random(20270115)
    editor = Editor(room, dice)
    assert isinstance(room.files, Interrupted)
    room.files.meanwhile = lambda moment: editor.act() if moment != "keep" and dice.random() < 0.1 else None
    for number in range(ROUNDS):
        if dice.random() < 0.7:
            editor.act()
        await update(room, dice, number)
        await room.mirroring.sync()
    room.files.meanwhile = lambda moment: None
    for _ in range(3):
        await room.mirroring.sync()
    ever = everything(room)
    texts = room.text(USER) + room.text(ALL)
    lost = [words for words in editor.wrote if words not in ever or (words not in texts and ever[words] == "live")]
    assert len(editor.wrote) > ROUNDS / 10
    assert lost == []
    before = room.every_file(), room.journal.head()
    await room.mirroring.sync(whole=True)
    assert (room.every_file(), room.journal.head()) == before


async def update(room: MirrorRoom, dice: random.Random, number: int) -> None:
    """What happens to memories in Stead meanwhile."""
    live = sorted(room.said().items())
    facts: list[ev.MemoryMade | ev.MemoryRetired] = []
    match dice.randrange(4):
        case 0:
            kind = dice.choice(("knowledge", "preference"))
            facts = [ev.MemoryMade(memory(number, f"Fact {number} of Stead.", kind=kind), "web")]
        case 1 if live:
            _, old = dice.choice(live)
            new = memory(number, f"Fact {number} of Stead.", kind=old.kind, supersedes=(old.id,))
            facts = [ev.MemoryMade(new, "web"), ev.MemoryRetired(old.id, "superseded", new.id, 5, "web")]
        case 2 if live:
            facts = [ev.MemoryRetired(dice.choice(live)[1].id, "removed", "", 5, "web")]
        case _:
            return
    async with room.memories.stream.lock:
        await room.memories.stream.record(facts, by="person")


def everything(room: MirrorRoom) -> dict[str, str]:
    """Everything that was ever remembered, and what became of it."""
    found: dict[str, str] = {}
    after = ""
    while True:
        rows, after = room.books.rows(RowsWanted(limit=1_000, after=after, status=STATUS))
        for row in rows:
            found[row.memory.text] = "live" if found.get(row.memory.text) == "live" else row.status
        if not after:
            return found


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from tests.memory.saying import memory
from tests.runtime.mirror_room import MirrorRoom
from tests.runtime.test_mirror_races import Interrupted

folder, moment, first = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])


async def main() -> None:
    room = MirrorRoom(folder, Interrupted, first)
    seen = []

    def meanwhile(at):
        seen.append(at)
        if at == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    if moment == "prepare":
        await room.remember(
            memory(1, "Ada lives in Bergen.", key="person.city"),
            memory(2, "Ada wants short answers.", kind="preference"),
            memory(3, "Ada drinks tea.", kind="preference"),
        )
    room.files.meanwhile = meanwhile
    await room.mirroring.sync()
    room.close()


asyncio.run(main())
"""


@pytest.mark.parametrize("moment", ["write", "exchange", "written", "keep"])
def test_a_kill_at_any_step_loses_no_edit_and_takes_none_in_twice(moment: str, tmp_path: Path) -> None:
    def run(at: str, first: int) -> int:
        return subprocess.run([sys.executable, "-c", KILLED, tmp_path, at, str(first)], check=False).returncode

    assert run("prepare", 10) == 0
    user = tmp_path / "memory-files" / USER
    lines = user.read_text().split("\n")
    edited = [line.replace("Bergen", "Oslo") for line in lines if "tea" not in line]
    user.write_text("\n".join([*edited, "- Ada has a bicycle."]))
    os.utime(user, (1_000_000_000, 1_000_000_000))
    assert run(moment, 100) == -signal.SIGKILL
    assert run("never", 200) == 0
    left = [path.name for path in (tmp_path / "memory-files").rglob(".stead-*")]
    room = MirrorRoom(tmp_path, first=300)
    try:
        assert room.said().keys() == {
            "Ada lives in Oslo.",
            "Ada wants short answers.",
            "Ada drinks tea.",
            "Ada has a bicycle.",
        }
        assert [what for what, _ in room.proposed()] == ["forget"]
        assert everything(room)["Ada lives in Bergen."] == "superseded"
        assert room.text(USER).count("bicycle") == room.text(USER).count("Oslo") == 1
        assert left == []
    finally:
        room.close()
