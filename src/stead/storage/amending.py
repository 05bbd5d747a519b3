"""A tree with some of its files as they are given: what changed while it was taken stands in it as it was before.

Layer: storage. Knows no file system.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from stead.domain.errors import NotFound
from stead.storage.contents import ContentStore
from stead.storage.intake import Intake, keeping
from stead.storage.trees import Entry

Path = tuple[bytes, ...]
_FOLDER_MODE = 0o755


def amend(store: ContentStore, root: bytes, files: Mapping[bytes, Entry | None]) -> bytes:
    """The name of the amended tree; kept when this returns.

    A folder that such a file alone had made goes with it, as git has it: nobody can tell any more whether it was there.

    Args:
        store: where the tree is.
        root: its name.
        files: by path; None for a file that was not there.

    Raises:
        NotFound: there is no such tree, or a content is not kept any more.
        Damaged, StorageFault: as the store.
    """
    for entry in files.values():
        if entry is not None and store.place(entry.ref) is None and store.chunks_of(entry.ref) is None:
            raise NotFound(f"the content {entry.ref.hex()} is not kept any more")
    with keeping(store) as intake:
        return _amended(store, intake, root, {tuple(path.split(b"/")): entry for path, entry in files.items()})


def _amended(store: ContentStore, intake: Intake, tree: bytes, files: Mapping[Path, Entry | None]) -> bytes:
    entries = {entry.name: entry for entry in store.tree(tree)} if tree else {}
    below: dict[bytes, dict[Path, Entry | None]] = {}
    for (name, *rest), entry in files.items():
        if rest:
            below.setdefault(name, {})[tuple(rest)] = entry
        elif entry is not None:
            entries[name] = replace(entry, name=name)
        elif name in entries and entries[name].kind == "file":
            del entries[name]
    empty = intake.tree([])
    for name, inner in below.items():
        folder = entries.get(name)
        if folder is None or folder.kind != "folder":
            folder = Entry(name, "folder", _FOLDER_MODE, 0, b"")
        amended = _amended(store, intake, folder.ref, inner)
        if amended != empty:
            entries[name] = replace(folder, ref=amended)
        elif amended != folder.ref:
            entries.pop(name, None)
    return intake.tree([entries[name] for name in sorted(entries)])
