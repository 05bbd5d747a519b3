"""Files that checkpoints keep are looked into and left alone."""

from __future__ import annotations

import io
from pathlib import Path

from stead.config import Home
from stead.domain.needles import Needles
from stead.storage.contents import ContentStore
from stead.storage.intake import keeping
from stead.storage.purging import KeptFiles
from stead.storage.residue import Residue
from tests.storage.drafts import KEYS

touches = Needles(["quillfeather"]).touches


async def test_words_in_kept_files_are_told_and_stay(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.make()
    home.contents.mkdir()
    store = ContentStore(home.contents, KEYS.checkpoints)
    contents = [b"a plain file", b"a Quillfeather", b"x" * 3_000_000 + b" quillfeather"]
    with keeping(store, b"/home/ada/quillfeather") as intake:
        names = [intake.content(io.BytesIO(content).read) for content in contents]
    kept = KeptFiles(store)
    await kept.purge((), (1,))
    (told,) = await kept.scan(touches)
    assert told.startswith("data/contents: 2 pieces of your own files")
    assert [b"".join(store.read(name)) for name in names] == contents
    (late,) = await KeptFiles(store, seconds=-1).scan(touches)
    assert late.startswith("not searched: ")
    store.note_last(b"/home/ada/quillfeather", bytes(32), 3)
    (named,) = Residue(home, KEYS).search(touches, 60).left
    assert named.startswith("data/contents/index.db")
    store.close()
