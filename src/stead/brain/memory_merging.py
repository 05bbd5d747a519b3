"""What a person changed in the files of one scope, and what the files are to say afterwards.

Layer: brain. Pure. A memory's words never change under its id, so files and memories are merged by ids: a bullet whose
words are not its memory's was edited; an id that was written and is in no file of the scope was deleted; a bullet
without an id of this very scope is new, whatever its comment says. Files of a scope are looked at together, so a bullet
may be moved from one to another.

A file that somebody had open while it was written comes back as it was before. Its first line says which generation
that was: what was first written later is not missing from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from stead.brain.memory_files import MEMORIES, PEOPLE, USER, file_of
from stead.brain.memory_markdown import Bullet, Document, mark_of, parse
from stead.brain.remembering import clean, normal
from stead.domain.memory import KEY_CHARS, Kind, Memory, MemoryId, MemoryRow, Scope
from stead.domain.mirroring import MOST_BYTES
from stead.domain.policies import Integrity, Label

FULL_BYTES = 600_000
"""A file as long as this takes no more memories in; a longer one could not be read back."""
_LONGEST_BYTES = MOST_BYTES - 50_000
"""What a file with the comments of its bullets comes to at most: the last ones are left out, and stay remembered."""
FOREIGN = 0.4
"""How sure it is what a file of strangers' words says."""
STANDING, STRANGERS = "Standing instructions", "Not from you"
_SECTIONS: dict[str, tuple[Kind, bool]] = {
    STANDING: ("preference", True),
    "Preferences": ("preference", False),
    "Corrections": ("correction", False),
    "About you": ("knowledge", False),
    "Knowledge": ("knowledge", False),
    "Patterns": ("pattern", False),
    "Context": ("context", False),
    "Skills": ("skill", False),
    "Procedures": ("procedure", False),
}
_BY_NAME = {name.casefold(): section for name, section in _SECTIONS.items()}
_TITLES = {USER: "You", MEMORIES: "What is remembered"}

RowOf = Callable[[str], MemoryRow | None]


@dataclass(slots=True)
class Change:
    """One bullet that does not say what its memory says.

    Args:
        path: of its file.
        bullet: see there; ``become`` or ``refuse`` ends it.
        edited: the memory whose words it had, nothing for a new one.
        stale: it is a line of Stead's that nobody touched, of a memory that nobody knows.
    """

    path: str
    bullet: Bullet
    edited: MemoryRow | None = None
    stale: bool = False


@dataclass(slots=True)
class Sheaf:
    """The files of one scope, taken apart.

    Args:
        scope: whose.
        files: by their path in the scope's folder.
        unread: files that could not be read, and are not written.
        written: by path, the ids that were last written and the generation in which each was first.
    """

    scope: Scope
    files: dict[str, Document] = field(default_factory=dict)
    unread: Collection[str] = ()
    written: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def bullets(self) -> list[tuple[str, Bullet]]:
        """Of every file."""
        return [(path, bullet) for path, document in sorted(self.files.items()) for bullet in document.bullets]

    def known(self, id: str) -> bool:
        """Whether an id was written into any of the files."""
        return any(id in ids for ids in self.written.values())

    def ids(self) -> set[str]:
        """Of every bullet that stays, and of what stands in files that could not be read."""
        unread = {id for path in self.unread for id in self.written.get(path, {})}
        return unread | {bullet.id for _, bullet in self.bullets() if bullet.id and not bullet.gone}


def taken_apart(
    scope: Scope, texts: Mapping[str, str], unread: Collection[str], written: Mapping[str, Mapping[str, int]]
) -> Sheaf:
    """The files of a scope as they were read."""
    known = {id for ids in written.values() for id in ids}
    return Sheaf(scope, {path: parse(text, known) for path, text in texts.items()}, unread, written)


def changes(sheaf: Sheaf, row_of: RowOf, live: Sequence[MemoryRow]) -> list[Change]:
    """What a person changed; the bullets that say what their memory says are settled by this.

    Args:
        sheaf: see there.
        row_of: a memory whatever became of it, nothing for one that is gone.
        live: of the scope, for bullets that lost their comment.
    """
    found: list[Change] = []
    claimed: dict[str, Change] = {}
    untouched: set[str] = set()
    for path, bullet in sheaf.bullets():
        row = row_of(bullet.id) if bullet.id else None
        if row is not None and row.memory.scope != sheaf.scope:
            row = None
        if row is None:
            untouched_id = bullet.id if bullet.mark == mark_of(bullet.text) else ""
            if untouched_id and sheaf.known(untouched_id):
                bullet.gone = True  # it was written here, nobody touched it, and it was forgotten
            else:
                bullet.id = ""
                if not bullet.held:
                    found.append(Change(path, bullet, stale=bool(untouched_id)))
        elif clean(row.memory.text) == bullet.text:
            bullet.gone = bullet.id in untouched  # the same line twice
            untouched.add(bullet.id)
        elif bullet.id in claimed:
            bullet.id = ""  # a copy of a line, with other words
            found.append(Change(path, bullet))
        else:
            claimed[bullet.id] = Change(path, bullet, row)
            if not bullet.held:
                found.append(claimed[bullet.id])
    for id, change in claimed.items():
        if id in untouched:
            change.bullet.id, change.edited = "", None
    return _known(found, untouched | claimed.keys(), live)


def deleted(sheaf: Sheaf, row_of: RowOf, waiting: Collection[str]) -> list[tuple[str, MemoryId]]:
    """Memories whose bullets were deleted, each with the file it stood in; but for those that are proposed already.

    A file that is not there tells nothing: somebody may have moved the folder, or a disk may be gone.
    """
    present = sheaf.ids() | set(waiting)
    gone = []
    for path, written in sheaf.written.items():
        document = sheaf.files.get(path)
        if document is None or not (document.bullets or document.generation >= 0):
            continue
        newest = document.generation if document.generation >= 0 else max(written.values(), default=0)
        for id, generation in written.items():
            row = row_of(id) if id not in present and generation <= newest else None
            if row is not None and row.status == "live" and row.memory.scope == sheaf.scope:
                gone.append((path, row.memory.id))
    return gone


def settle(sheaf: Sheaf, row_of: RowOf, live: Sequence[MemoryRow], waiting: Collection[str]) -> None:
    """Let the files say what is remembered now: bullets of what no longer holds make way, new memories come in.

    Args:
        sheaf: after its changes were settled.
        row_of: as of ``changes``, but as it is now.
        live: the memories of the scope that may be put in, oldest first.
        waiting: ids of which it is proposed to forget them; they do not come in again.
    """
    taken, said = sheaf.ids(), set[str]()
    for _, bullet in sheaf.bullets():
        if not bullet.id or bullet.gone or bullet.held:
            continue
        heir = heir_of(row_of(bullet.id), row_of)
        if heir is None or heir.scope != sheaf.scope or heir.id in said or heir.id in taken - {bullet.id}:
            bullet.gone = True
        else:
            taken.add(heir.id)
            said.add(heir.id)
            bullet.become(heir.id, clean(heir.text))
    coming: dict[tuple[str, str], list[Bullet]] = {}
    for row in live:
        memory = row.memory
        path = file_of(memory)
        if memory.id in taken or memory.id in waiting or path in sheaf.unread or not clean(memory.text):
            continue
        bullet = Bullet("")
        bullet.become(memory.id, clean(memory.text))
        coming.setdefault((path, section_of(memory)), []).append(bullet)
    for path, heading in sorted(coming, key=lambda key: (key[0], _place(key[1]))):
        document = sheaf.files.setdefault(path, Document())
        if not document.parts:
            document.parts += [f"# {title_of(path)}", ""]
        room = FULL_BYTES - len(document.text(0).encode())
        document.add(heading, that_fit(room, coming[path, heading]))
    for document in sheaf.files.values():
        _shorten(document)


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
    """What is said under a heading of a file, for lack of another sign."""
    if path.startswith(f"{PEOPLE}/"):
        return "person"
    kind, _ = _BY_NAME.get(heading.strip().casefold(), ("preference" if path == USER else "knowledge", False))
    return kind


def section_of(memory: Memory) -> str:
    """The heading under which a memory stands."""
    if memory.label.integrity is Integrity.UNTRUSTED:
        return STRANGERS
    path = file_of(memory)
    if path.startswith(PEOPLE):
        return ""
    if path == USER:
        if memory.standing:
            return STANDING
        return {"preference": "Preferences", "correction": "Corrections"}.get(memory.kind, "About you")
    return next(
        (name for name, (kind, _) in _SECTIONS.items() if kind == memory.kind and name != "About you"), "Others"
    )


def left_empty(path: str, document: Document) -> bool:
    """Whether a file has nothing but what Stead begins it with."""
    return all(part in ("", f"# {title_of(path)}") for part in document.parts if not _gone(part))


def _gone(part: Bullet | str) -> bool:
    return isinstance(part, Bullet) and part.gone


def title_of(path: str) -> str:
    """What a file that is begun is headed by."""
    name = path.removeprefix(f"{PEOPLE}/").removesuffix(".md")
    return _TITLES.get(path) or name.replace("-", " ").title()


def _known(found: list[Change], present: Collection[str], live: Sequence[MemoryRow]) -> list[Change]:
    """Without those that only lost their comment, or that were taken in just before a crash."""
    by_words = {normal(row.memory.text): row.memory for row in live if row.memory.id not in present}
    left = []
    for change in found:
        same = None if change.edited else by_words.pop(normal(change.bullet.text), None)
        if same is None:
            left.append(change)
        else:
            change.bullet.become(same.id, change.bullet.text)
    return left


def heir_of(row: MemoryRow | None, row_of: RowOf) -> Memory | None:
    """The live memory in a memory's place."""
    seen = set[str]()
    while row is not None and row.status == "superseded" and row.superseded_by and row.memory.id not in seen:
        seen.add(row.memory.id)
        row = row_of(row.superseded_by)
    return row.memory if row is not None and row.status == "live" else None


def _shorten(document: Document) -> None:
    over = len(document.text(0).encode()) - _LONGEST_BYTES
    for bullet in reversed(document.bullets if over > 0 else []):
        if over > 0 and bullet.id and not bullet.held and not bullet.notes:
            over -= sum(len(line.encode()) + 1 for line in bullet.written("m"))
            bullet.gone = True


def that_fit(room_bytes: int, bullets: Sequence[Bullet], letter: str = "m") -> list[Bullet]:
    """As many bullets, from the first on, as there is room for in a file."""
    fit = []
    for bullet in bullets:
        room_bytes -= sum(len(line.encode()) + 1 for line in bullet.written(letter))
        if room_bytes < 0:
            break
        fit.append(bullet)
    return fit


def _place(heading: str) -> int:
    names = list(_SECTIONS)
    return names.index(heading) if heading in names else len(names)
