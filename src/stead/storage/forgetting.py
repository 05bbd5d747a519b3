"""Dropping what no kept tree needs, so that its bytes are gone from the disk.

Layer: storage. First the index forgets in one transaction; then every pack that holds something forgotten is written
again without it, or removed. A kill in between leaves bytes that nothing speaks of, and the next call finds them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from stead.domain.errors import NotFound
from stead.storage.contents import ContentStore, split
from stead.storage.database import Damaged

if TYPE_CHECKING:
    from sqlite3 import Connection


def forget(store: ContentStore, in_use: Callable[[], tuple[Iterable[bytes], Iterable[bytes]]]) -> int:
    """Keep the trees and contents in use with all that they need, and nothing else; gives the bytes that are free now.

    Args:
        store: which.
        in_use: gives them, while nothing can be kept.

    Raises:
        Damaged: a tree to be kept cannot be read, so nobody knows what it needs; nothing was dropped.
        StorageFault: the disk is full or refuses; what was dropped so far stays dropped.
        Conflict: the store was in use for too long.
    """
    before = _size(store)
    with store.lock.exclusive():
        live = _Live(store)
        roots, contents = in_use()
        for root in roots:
            live.add_tree(root)
        live.contents.update(contents)
        store.write(live.drop_others)
    for number in store.packs.numbers():
        with store.lock.exclusive():  # for each, so that an edit waits for one pack and not for all
            _rewrite(store, number)
    with store.lock.exclusive():
        store.shrink_index()
    return max(0, before - _size(store))


class _Live:
    """What is to stay."""

    def __init__(self, store: ContentStore) -> None:
        self.trees: set[bytes] = set()
        self.contents: set[bytes] = set()
        self._store = store

    def add_tree(self, name: bytes) -> None:
        """A tree and all below it; one that is not there has nothing to lose."""
        todo = [name]
        while todo:
            tree = todo.pop()
            if tree in self.trees:
                continue
            try:
                entries = self._store.tree(tree)
            except NotFound:
                continue
            self.trees.add(tree)
            todo += [entry.ref for entry in entries if entry.kind == "folder"]
            self.contents.update(entry.ref for entry in entries if entry.kind == "file")

    def drop_others(self, connection: Connection) -> None:
        """Forget the rest in the index."""
        _drop(connection, "trees", "name", "name", self.trees)
        _drop(connection, "contents", "name", "name", self.contents)
        chunks = set(self.contents)
        for (names,) in connection.execute("SELECT chunks FROM contents"):
            chunks.update(split(names))
        _drop(connection, "chunks", "name", "name", chunks)
        _drop(connection, "seen", "rowid", "tree", self.trees)
        _drop(connection, "folders", "rowid", "root", self.trees)


def _drop(connection: Connection, table: str, key: str, column: str, live: set[bytes]) -> None:
    """Delete every row that names something else."""
    rows = connection.execute(f"SELECT {key}, {column} FROM {table}").fetchall()  # noqa: S608 - names of our own
    dead = [(row,) for row, name in rows if name not in live]
    connection.executemany(f"DELETE FROM {table} WHERE {key} = ?", dead)  # noqa: S608 - names of our own


def _rewrite(store: ContentStore, number: int) -> None:
    """Move what the index knows of a pack elsewhere and remove it, if there is more in it than that."""
    with store.database.reading() as connection:
        rows = connection.execute("SELECT name, at, size FROM chunks WHERE pack = ? ORDER BY at", (number,)).fetchall()
    if sum(size for _, _, size in rows) == store.packs.size(number):
        return
    store.packs.withdraw(number)
    if rows:
        target = store.packs.borrow()
        moved, lost = [], []
        try:
            for name, at, size in rows:
                try:
                    sealed = store.packs.read(number, at, size)
                except Damaged:
                    lost.append((name,))
                    continue
                moved.append((target.number, target.append(sealed), name))
            target.sync()
        except BaseException:
            target.undo()
            store.packs.give_back(target)
            raise
        try:
            store.write(partial(_move, moved, lost))
        except BaseException:
            target.close()  # the index may have taken it all the same
            raise
        target.acknowledge()
        store.packs.give_back(target)
    store.packs.remove(number)


def _move(moved: list[tuple[int, int, bytes]], lost: list[tuple[bytes]], connection: Connection) -> None:
    connection.executemany("UPDATE chunks SET pack = ?, at = ? WHERE name = ?", moved)
    connection.executemany("UPDATE chunks SET bad = 1 WHERE name = ?", lost)


def _size(store: ContentStore) -> int:
    files = [store.packs.path(number) for number in store.packs.numbers()]
    index = store.database.path
    files += [index, index.with_name(index.name + "-wal")]
    return sum(file.stat().st_size for file in files if file.exists())
