"""The merge of files, base and memories by itself: whatever a person and Stead change at once, nothing is lost."""

from __future__ import annotations

from typing import Literal, get_args

from hypothesis import given
from hypothesis import strategies as st

from stead.brain.memory_files import MEMORIES, USER, file_of
from stead.domain.memory import MemoryRow, Scope
from stead.memory.files.merge import ScopeFiles, deletions, edits, update
from tests.memory.saying import memory

Act = Literal["keep", "reword", "delete", "move", "strip", "double", "supersede", "retire", "forget"]
ACTS = st.sampled_from(get_args(Act))


def row(number: int, words: str) -> MemoryRow:
    return MemoryRow(memory(number, words, kind="preference" if number % 2 else "knowledge"), "live", number)


def written(files: ScopeFiles) -> tuple[dict[str, str], dict[str, dict[str, int]]]:
    """The texts of the files, and the base that is kept of them."""
    texts = {path: document.text(1) for path, document in files.files.items()}
    return texts, {path: {b.id: 1 for b in d.bullets if b.id and not b.gone} for path, d in files.files.items()}


def edited(texts: dict[str, str], path: str, words: str, act: Act) -> None:
    """One line, as a person changes it."""
    line = next(line for line in texts[path].split("\n") if line.startswith(f"- {words} <!--"))
    match act:
        case "reword":
            texts[path] = texts[path].replace(line, line.replace(words, f"{words} Or so."))
        case "delete":
            texts[path] = texts[path].replace(f"{line}\n", "")
        case "move":
            texts[path] = texts[path].replace(f"{line}\n", "")
            other = USER if path == MEMORIES else MEMORIES
            texts[other] += f"\n## Mine\n\n{line}\n"
        case "strip":
            texts[path] = texts[path].replace(line, f"* {words}")
        case "double":
            texts[path] = texts[path].replace(line, f"{line}\n{line}")
        case _:
            return


@given(acts=st.lists(ACTS, max_size=8), added=st.integers(0, 2), coming=st.integers(0, 2))
def test_every_change_of_either_side_is_found_once_and_the_second_merge_finds_none(
    acts: list[Act], added: int, coming: int
) -> None:
    first = [row(number, f"Sign {number}.") for number in range(1, len(acts) + 1)]
    rows: dict[str, MemoryRow] = {one.memory.id: one for one in first}
    files = ScopeFiles.of(Scope(), {}, (), {})
    update(files, rows, list(rows.values()), ())
    texts, base = written(files)
    assert all(texts[file_of(one.memory)].count(f"- {one.memory.text} <!--") == 1 for one in rows.values())

    did = dict(zip(first, acts, strict=True))
    for number, (one, act) in enumerate(did.items(), start=100):
        edited(texts, file_of(one.memory), one.memory.text, act)
        if act == "supersede":
            heir = row(number * 2 + one.recorded_ms % 2, f"News {number}.")
            rows[heir.memory.id] = heir
            rows[one.memory.id] = MemoryRow(one.memory, "superseded", 1, superseded_by=heir.memory.id)
        elif act == "retire":
            rows[one.memory.id] = MemoryRow(one.memory, "retired", 1)
        elif act == "forget":
            del rows[one.memory.id]
    texts[MEMORIES] += "".join(f"- Mine {number}.\n" for number in range(added))
    rows |= {one.memory.id: one for one in (row(900 + number, f"Late {number}.") for number in range(coming))}

    files = ScopeFiles.of(Scope(), texts, (), base)
    live = [one for one in rows.values() if one.status == "live"]
    found = edits(files, rows, live)
    reworded = {one.memory.id for one, act in did.items() if act == "reword"}
    assert {edit.old.memory.id for edit in found if edit.old} == reworded
    assert sorted(edit.bullet.text for edit in found if not edit.old) == [f"Mine {number}." for number in range(added)]
    gone = [id for _, id in deletions(files, rows, ())]
    assert set(gone) == {one.memory.id for one, act in did.items() if act == "delete"}

    for number, edit in enumerate(found, start=500):  # as taking them in does
        new = row(number, edit.bullet.text)
        rows[new.memory.id] = new
        if edit.old:
            rows[edit.old.memory.id] = MemoryRow(edit.old.memory, "superseded", 1, superseded_by=new.memory.id)
        edit.bullet.become(new.memory.id, new.memory.text)
    live = [one for one in rows.values() if one.status == "live"]
    update(files, rows, live, gone)
    texts, base = written(files)
    again = ScopeFiles.of(Scope(), texts, (), base)
    assert edits(again, rows, live) == []
    assert deletions(again, rows, ()) == []
    there = sorted(bullet.id for _, bullet in again.bullets)
    assert there == sorted(one.memory.id for one in live if one.memory.id not in gone), "each live one has one line"
    update(again, rows, live, gone)
    assert written(again)[0] == texts
