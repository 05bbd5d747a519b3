"""The three-way merge of one scope's files: what was written last, what the files say now, and what is remembered.

Layer: memory. Pure. A memory's words never change under its id, so the base is ids alone: a bullet whose words are not
its memory's was edited; an id that was written and is in no file of the scope was deleted; a bullet without an id of
this very scope is new, whatever its comment says. The files of a scope are merged together, so a bullet may be moved
from one to another.

An editor that had a file open while it was written saves the old state. The first line says which generation that was:
what was first written later is not missing from it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from stead.brain.memory_files import MEMORIES, PEOPLE, USER, file_of
from stead.brain.remembering import clean, normal
from stead.domain.memory import KEY_CHARS, Kind, Memory, MemoryId, MemoryRow, Scope
from stead.domain.policies import Integrity, Label
from stead.memory.files.codec import MOST_BYTES, Bullet, Document, parse

_LONGEST_BYTES = MOST_BYTES - 50_000
"""What a file with the comments of its bullets comes to at most: the last ones are left out, and stay remembered."""
FOREIGN = 0.4
"""The confidence in what a file of strangers' words says."""
STANDING, STRANGERS = "Standing instructions", "Not from you"
_SECTIONS: dict[str, Kind] = {
    STANDING: "preference",
    "Preferences": "preference",
    "Corrections": "correction",
    "About you": "knowledge",
    "Knowledge": "knowledge",
    "Patterns": "pattern",
    "Context": "context",
    "Skills": "skill",
    "Procedures": "procedure",
}
_BY_NAME = {name.casefold(): kind for name, kind in _SECTIONS.items()}
_BY_KIND = {kind: name for name, kind in _SECTIONS.items()}
_ORDER = list(_SECTIONS)
_TITLES = {USER: "You", MEMORIES: "What is remembered"}

Rows = Mapping[str, MemoryRow]
"""Memories by id, whatever became of them; those that are gone are missing."""


@dataclass(slots=True)
class Edit:
    """One bullet that does not say what its memory says.

    Args:
        path: of its file.
        bullet: the bullet; ``become`` or ``refuse`` ends the edit.
        old: the memory whose words it had, None for a new one.
        stale: it is an untouched line of Stead's, of a memory that is not known.
    """

    path: str
    bullet: Bullet
    old: MemoryRow | None = None
    stale: bool = False


@dataclass(slots=True)
class ScopeFiles:
    """The parsed files of one scope, by their path in its folder.

    Args:
        scope: whose.
        files: those that could be read.
        unread: files that could not be read, and are not written.
        base: by path, the ids that were last written and the generation in which each was first.
    """

    scope: Scope
    files: dict[str, Document] = field(default_factory=dict)
    unread: Collection[str] = ()
    base: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, scope: Scope, texts: Mapping[str, str], unread: Collection[str], base: Mapping[str, Mapping[str, int]]
    ) -> ScopeFiles:
        """The files as they were read; the two that everybody edits are there in any case."""
        known = {id for ids in base.values() for id in ids}
        files = {path: parse(text, known) for path, text in texts.items()}
        if scope.level == "global":
            for path in (USER, MEMORIES):
                if path not in unread:
                    files.setdefault(path, _begun(path))
        return cls(scope, files, unread, base)

    @property
    def bullets(self) -> list[tuple[str, Bullet]]:
        """Of every file."""
        return [(path, bullet) for path, document in sorted(self.files.items()) for bullet in document.bullets]

    @property
    def ids(self) -> set[str]:
        """Of every bullet that stays, and of what stands in files that could not be read."""
        unread = {id for path in self.unread for id in self.base.get(path, {})}
        return unread | {bullet.id for _, bullet in self.bullets if bullet.id and not bullet.gone}

    @property
    def mentioned(self) -> set[str]:
        """Every id of which the files or the base speak."""
        return {bullet.id for _, bullet in self.bullets} | {id for ids in self.base.values() for id in ids}


def edits(files: ScopeFiles, rows: Rows, live: Sequence[MemoryRow]) -> list[Edit]:
    """What a person changed; the bullets that say what their memory says need nothing further.

    Args:
        files: of one scope.
        rows: the memories that they speak of.
        live: of the scope, for bullets that lost their comment.
    """
    written = {id for ids in files.base.values() for id in ids}
    found: list[Edit] = []
    edited: dict[str, Edit] = {}
    untouched: set[str] = set()
    for path, bullet in files.bullets:
        row = rows.get(bullet.id)
        if row is None or row.memory.scope != files.scope:
            stale = bool(bullet.id) and not bullet.touched
            if stale and bullet.id in written:
                bullet.gone = True  # it was written here, is untouched, and was forgotten
                continue
            bullet.id = ""
            if not bullet.held:
                found.append(Edit(path, bullet, stale=stale))
        elif clean(row.memory.text) == bullet.text:
            untouched.add(bullet.id)
        elif bullet.id in edited:
            bullet.id = ""  # a copy of a line, with other words
            found.append(Edit(path, bullet))
        else:
            edited[bullet.id] = Edit(path, bullet, row)
            if not bullet.held:
                found.append(edited[bullet.id])
    for id in edited.keys() & untouched:
        edited[id].bullet.id, edited[id].old = "", None
    return _unknown(found, untouched | edited.keys(), live)


def deletions(files: ScopeFiles, rows: Rows, waiting: Collection[str]) -> list[tuple[str, MemoryId]]:
    """Memories whose bullets were deleted, each with its file; without those that are proposed already.

    A file that is not there deletes nothing: a person may have moved the folder, or a disk may be gone.
    """
    present = files.ids | set(waiting)
    gone = []
    for path, ids in files.base.items():
        document = files.files.get(path)
        if document is None or not (document.bullets or document.generation >= 0):
            continue
        newest = document.generation if document.generation >= 0 else max(ids.values(), default=0)
        for id, generation in ids.items():
            row = rows.get(id) if id not in present and generation <= newest else None
            if row is not None and row.status == "live" and row.memory.scope == files.scope:
                gone.append((path, row.memory.id))
    return gone


def update(files: ScopeFiles, rows: Rows, live: Sequence[MemoryRow], waiting: Collection[str]) -> None:
    """Let the files say what is remembered now: bullets of what no longer holds make way, new memories come in.

    Args:
        files: after the edits in them were recorded.
        rows: the memories that they speak of, as they are now.
        live: the memories of the scope that may be put in, oldest first.
        waiting: ids of which it is proposed to forget them; they do not come in again.
    """
    taken, said = files.ids, set[str]()
    for _, bullet in files.bullets:
        if not bullet.id or bullet.gone or bullet.held:
            continue
        heir = heir_of(rows.get(bullet.id), rows)
        if heir is None or heir.scope != files.scope or heir.id in said or (heir.id != bullet.id and heir.id in taken):
            bullet.gone = True
        else:
            taken.add(heir.id)
            said.add(heir.id)
            bullet.become(heir.id, clean(heir.text))
    coming: dict[tuple[str, int, str], list[Bullet]] = {}
    for row in live:
        memory, path = row.memory, file_of(row.memory)
        if memory.id in taken or memory.id in waiting or path in files.unread or not clean(memory.text):
            continue
        heading = section_of(memory)
        place = _ORDER.index(heading) if heading in _ORDER else len(_ORDER)
        coming.setdefault((path, place, heading), []).append(Bullet.of(memory.id, memory.text))
    for path, _, heading in sorted(coming):
        document = files.files.setdefault(path, Document())
        document.parts = document.parts or _begun(path).parts
        document.add(heading, coming[path, _, heading])
    for document in files.files.values():
        _shorten(document)


def heir_of(row: MemoryRow | None, rows: Rows) -> Memory | None:
    """The live memory in a memory's place."""
    seen = set[str]()
    while row is not None and row.status == "superseded" and row.superseded_by and row.memory.id not in seen:
        seen.add(row.memory.id)
        row = rows.get(row.superseded_by)
    return row.memory if row is not None and row.status == "live" else None


def new_memory(path: str, bullet: Bullet, blank: Memory) -> Memory:
    """The memory that a new bullet would be: its kind, and whose word it is, follow from where it stands.

    Under the heading for strangers' words it is a stranger's. So a file that a home does not know any more, or another
    home's, makes nothing of theirs the person's.
    """
    aliases = blank.aliases
    if path.startswith(f"{PEOPLE}/"):
        name = path.removeprefix(f"{PEOPLE}/").removesuffix(".md")
        aliases = () if name == "others" else (name.replace("-", " ")[:KEY_CHARS],)
    heading = bullet.heading.strip().casefold()
    standing = heading == STANDING.casefold()
    new = replace(blank, text=bullet.text, kind=kind_at(path, bullet.heading), standing=standing, aliases=aliases)
    if heading != STRANGERS.casefold():
        return new
    return replace(new, origin="imported", label=Label(Integrity.UNTRUSTED), confidence=FOREIGN, source=path)


def kind_at(path: str, heading: str) -> Kind:
    """The kind of what is said under a heading of a file, for lack of another sign."""
    if path.startswith(f"{PEOPLE}/"):
        return "person"
    return _BY_NAME.get(heading.strip().casefold(), "preference" if path == USER else "knowledge")


def section_of(memory: Memory) -> str:
    """The heading under which a memory stands."""
    path = file_of(memory)
    if memory.label.integrity is Integrity.UNTRUSTED:
        return STRANGERS
    if path == USER:
        if memory.standing:
            return STANDING
        return _BY_KIND[memory.kind] if memory.kind in ("preference", "correction") else "About you"
    return "" if path.startswith(PEOPLE) else _BY_KIND.get(memory.kind, "Others")


def title_of(path: str) -> str:
    """The title of a file that Stead begins."""
    name = path.removeprefix(f"{PEOPLE}/").removesuffix(".md")
    return _TITLES.get(path) or name.replace("-", " ").title()


def left_empty(path: str, document: Document) -> bool:
    """Whether a file has nothing but what Stead begins it with."""
    left = [part for part in document.parts if isinstance(part, str) or not part.gone]
    return all(part in ("", f"# {title_of(path)}") for part in left)


def _begun(path: str) -> Document:
    return Document([f"# {title_of(path)}", ""])


def _unknown(found: list[Edit], present: Collection[str], live: Sequence[MemoryRow]) -> list[Edit]:
    """Without bullets that only lost their comment, or that were taken in just before a crash."""
    by_words = {normal(row.memory.text): row.memory for row in live if row.memory.id not in present} if found else {}
    left = []
    for edit in found:
        same = None if edit.old else by_words.pop(normal(edit.bullet.text), None)
        if same is None:
            left.append(edit)
        else:
            edit.bullet.become(same.id, edit.bullet.text)
    return left


def _shorten(document: Document) -> None:
    over = len(document.text(0).encode()) - _LONGEST_BYTES
    for bullet in reversed(document.bullets if over > 0 else []):
        if over > 0 and bullet.id and not bullet.held and not bullet.notes:
            over -= document.size_of(bullet)
            bullet.gone = True
