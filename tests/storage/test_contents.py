"""The store of contents: each kept once, found again, unreadable to others, and gone when it is forgotten."""

from __future__ import annotations

import io
import os
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stead.domain.errors import Conflict, NotFound, StorageFault, WrongKey
from stead.storage import chunking
from stead.storage.contents import ContentStore
from stead.storage.forgetting import forget
from stead.storage.intake import Naming, keeping
from stead.storage.sharing import SharedLock
from stead.storage.trees import Entry

KEY = bytes(range(32))
DEADLINE_S = 30


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ContentStore]:
    store = ContentStore(tmp_path / "store", KEY)
    yield store
    store.close()


def keep(store: ContentStore, *contents: bytes) -> list[bytes]:
    with keeping(store) as intake:
        return [intake.content(io.BytesIO(content).read) for content in contents]


def whole(store: ContentStore, name: bytes) -> bytes:
    return b"".join(store.read(name))


def on_disk(store: ContentStore) -> int:
    return sum(path.stat().st_size for path in store.database.path.parent.rglob("*") if path.is_file())


@given(size=st.integers(0, 3_000_000), block=st.sampled_from([1_000, 65_536, 1 << 20]), seed=st.integers(0, 9))
def test_chunks_make_up_the_content_and_do_not_depend_on_how_it_was_read(size: int, block: int, seed: int) -> None:
    content = random.Random(seed).randbytes(size)
    pieces = list(chunking.pieces(io.BytesIO(content).read))
    reader = io.BytesIO(content)
    assert list(chunking.pieces(lambda most: reader.read(min(most, block)))) == pieces
    assert b"".join(pieces) == content
    assert all(len(piece) <= chunking.MOST for piece in pieces)
    assert all(len(piece) >= chunking.LEAST for piece in pieces[:-1])


def test_a_window_boundary_moves_no_cut() -> None:
    content = random.Random(1).randbytes(11_000_000)
    cuts = [len(piece) for piece in chunking.pieces(io.BytesIO(content).read)]
    behind = [len(piece) for piece in chunking.pieces(io.BytesIO(content[sum(cuts[:3]) :]).read)]
    assert behind == cuts[3:]


def test_one_byte_changed_put_in_or_taken_out_of_40_mb_stores_less_than_2_mb(store: ContentStore) -> None:
    content = random.Random(2).randbytes(40_000_000)
    (name,) = keep(store, content)
    first = on_disk(store)
    assert first < 40_300_000
    for changed in (
        content[:20_000_000] + bytes([content[20_000_000] ^ 1]) + content[20_000_001:],
        b"x" + content,
        content[:30_000_000] + content[30_000_001:],
        content + b"x",
    ):
        before = on_disk(store)
        (other,) = keep(store, changed)
        assert other != name
        assert on_disk(store) - before <= 2_000_000
        assert whole(store, other) == changed
    assert whole(store, name) == content
    before = on_disk(store)
    assert keep(store, content, content) == [name, name]
    assert on_disk(store) == before


@settings(max_examples=25)
@given(contents=st.lists(st.binary(max_size=200), min_size=1, max_size=5))
def test_a_content_has_the_same_name_kept_or_only_named(
    tmp_path_factory: pytest.TempPathFactory, contents: list[bytes]
) -> None:
    store = ContentStore(tmp_path_factory.mktemp("contents"), KEY)
    large = [content * 5_000 for content in contents]
    names = keep(store, *contents, *large)
    naming = Naming(store)
    assert [naming.content(io.BytesIO(content).read) for content in [*contents, *large]] == names
    assert [whole(store, name) for name in names] == [*contents, *large]
    store.close()


def test_names_follow_from_the_key_and_a_store_opens_with_its_own_alone(tmp_path: Path, store: ContentStore) -> None:
    (name,) = keep(store, b"known to everybody")
    other = ContentStore(tmp_path / "other", bytes(32))
    assert keep(other, b"known to everybody") != [name]
    other.close()
    with pytest.raises(WrongKey):
        ContentStore(tmp_path / "other", KEY)
    again = ContentStore(tmp_path / "other", bytes(32))
    again.close()
    with pytest.raises(NotFound, match="not kept"):
        list(store.read(bytes(32)))


def test_no_file_shows_a_content_a_name_or_a_size_and_all_are_for_the_owner_alone(
    tmp_path: Path, store: ContentStore
) -> None:
    canary = b"canary-77-sings"
    with keeping(store, b"/home/ada/secret-project") as intake:
        content = intake.content(io.BytesIO(canary * 50).read)
        tree = intake.tree([Entry(b"canary-name", "file", 0o644, 750, content)])
        intake.see(b"canary-folder", tree, {b"canary-name": (1, 2, 3, 4, content)})
    files = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"index.db", "index.db-wal", "00000001.pack", "lock"}
    for path in files:
        kept = path.read_bytes()
        for words in (b"canary", b"secret-project", content, content.hex().encode(), tree, b"SQLite format"):
            assert words not in kept
        assert path.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "store").stat().st_mode & 0o777 == 0o700


def test_forgetting_frees_the_disk_and_keeps_what_others_need(store: ContentStore) -> None:
    chance = random.Random(3)
    shared, large = chance.randbytes(100_000), chance.randbytes(2_000_000)
    roots, names = [], []
    for number in range(3):
        with keeping(store, b"/p") as intake:
            own = intake.content(io.BytesIO(chance.randbytes(1_000_000)).read)
            both = intake.content(io.BytesIO(shared).read)
            most = intake.content(io.BytesIO(large + bytes([number])).read)
            inner = intake.tree([Entry(b"both", "file", 0o644, 100_000, both)])
            entries = [Entry(b"inner", "folder", 0o755, 0, inner), Entry(b"most", "file", 0o644, 2_000_001, most)]
            root = intake.tree([*entries, Entry(b"own", "file", 0o644, 1_000_000, own)])
            intake.see(b"", root, {b"own": (1, 2, 3, 4, own)})
        store.note_last(b"/p", root, 3)
        roots.append(root)
        names.append((own, both, most))
    (alone,) = keep(store, chance.randbytes(500_000))
    before = on_disk(store)
    freed = forget(store, lambda: ([roots[1]], [alone]))
    assert 2_000_000 <= freed <= 3_200_000
    assert before - on_disk(store) == freed
    assert [len(whole(store, name)) for name in (*names[1], alone)] == [1_000_000, 100_000, 2_000_001, 500_000]
    for name in (names[0][0], names[2][2]):
        with pytest.raises(NotFound):
            whole(store, name)
    with pytest.raises(NotFound):
        store.tree(roots[0])
    assert store.seen(b"/p") == {}, "what was seen named contents that are gone"
    assert store.last(b"/p") == (b"", 0)
    assert forget(store, lambda: ([], [])) > 3_000_000
    assert on_disk(store) < 200_000
    assert whole(store, keep(store, shared)[0]) == shared


def test_what_a_kill_left_behind_the_last_acknowledged_byte_is_cut_off(tmp_path: Path) -> None:
    store = ContentStore(tmp_path / "store", KEY)
    (name,) = keep(store, b"acknowledged")
    store.close()
    pack = tmp_path / "store" / "packs" / "00000001.pack"
    size = pack.stat().st_size
    with pack.open("ab") as file:
        file.write(b"half a chunk")
    (pack.parent / "00000002.pack").write_bytes(b"a pack that the index was never told of")
    store = ContentStore(tmp_path / "store", KEY)
    assert pack.stat().st_size == size
    assert os.listdir(pack.parent) == ["00000001.pack"]
    assert whole(store, name) == b"acknowledged"
    assert whole(store, keep(store, b"and on")[0]) == b"and on"
    store.close()


def test_what_goes_wrong_in_the_middle_leaves_nothing_and_lets_go_of_every_file(store: ContentStore) -> None:
    keep(store, b"before")
    descriptors, size = len(os.listdir("/proc/self/fd")), on_disk(store)
    for _ in range(20):
        with pytest.raises(RuntimeError, match="planned"), keeping(store) as intake:
            name = intake.content(io.BytesIO(b"half").read)
            raise RuntimeError("planned")
        assert store.place(name) is None
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert on_disk(store) == size


def test_many_keep_and_read_and_forget_at_once(store: ContentStore) -> None:
    (alone,) = keep(store, b"alone" * 9_000)
    faults: list[BaseException] = []

    def work(number: int) -> None:
        chance = random.Random(number)
        try:
            for _ in range(15):
                content = chance.choice([b"shared" * 10_000, chance.randbytes(3_000)])
                with store.lock.shared():
                    assert whole(store, keep(store, content)[0]) == content
        except BaseException as fault:  # noqa: BLE001 - told at the end
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(8):
        forget(store, lambda: ([], [alone]))
    for thread in threads:
        thread.join(DEADLINE_S)
    assert faults == []
    assert whole(store, alone) == b"alone" * 9_000


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (lambda c: c.execute("UPDATE meta SET value = '2'"), "newer Stead"),
        (lambda c: c.execute("UPDATE meta SET name = 'something'"), "newer Stead"),
    ],
)
def test_an_index_of_another_kind_is_refused(tmp_path: Path, spoil: Callable[[object], object], fault: str) -> None:
    store = ContentStore(tmp_path / "store", KEY)
    store.write(spoil)
    store.close()
    for _ in range(2):  # and it lets go of the folder
        with pytest.raises(StorageFault, match=fault):
            ContentStore(tmp_path / "store", KEY)


def test_an_exclusive_lock_waits_for_all_holders_and_keeps_nobody_out_meanwhile() -> None:
    lock, inside, alone = SharedLock(), threading.Event(), threading.Event()
    waiting = threading.Thread(target=lambda: _hold_alone(lock, inside, alone))
    with lock.shared():
        waiting.start()
        assert inside.wait(DEADLINE_S)
        with lock.shared():
            assert not alone.is_set()
    waiting.join(DEADLINE_S)
    assert alone.is_set()
    assert lock.close(DEADLINE_S)
    with pytest.raises(StorageFault, match="closed"), lock.shared():
        pass


def _hold_alone(lock: SharedLock, inside: threading.Event, alone: threading.Event) -> None:
    inside.set()
    with lock.exclusive():
        alone.set()


def test_two_processes_do_not_share_a_store(tmp_path: Path, store: ContentStore) -> None:
    with pytest.raises(Conflict, match="another process has the checkpoints"):
        ContentStore(tmp_path / "store", KEY)
