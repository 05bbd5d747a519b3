"""A folder as a watch sees it: names and contents, no link followed, nothing hostile opened, never too much."""

from __future__ import annotations

import os
import socket
import time
import tracemalloc
from pathlib import Path

import pytest

from stead.domain.errors import InvalidRequest, ToolFault
from stead.domain.watches import Place
from stead.machines import file_looks
from stead.machines.file_looks import HostFileLooks


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (project := tmp_path / "project").mkdir()
    return project


async def items(project: Path, path: str = "", *ignore: str, looks: HostFileLooks | None = None) -> dict[str, str]:
    found = await (looks or HostFileLooks()).look(Place(str(project), ignore=ignore), path)
    return dict(found.items)


async def test_names_and_contents_count_and_times_do_not(project: Path) -> None:
    (project / "a.md").write_text("pears")
    (project / "sub").mkdir()
    (project / "sub/b.md").write_text("plums")
    looks = HostFileLooks()
    first = await items(project, looks=looks)
    assert set(first) == {"a.md", "sub/b.md"}
    os.utime(project / "a.md", (1, 1))
    assert await items(project, looks=looks) == first, "a file that was only touched is the same"
    (project / "a.md").write_text("PEARS")
    os.utime(project / "a.md", (1, 1))
    changed = await items(project, looks=looks)
    assert changed["a.md"] != first["a.md"] and changed["sub/b.md"] == first["sub/b.md"]
    assert set(await items(project, "sub")) == {"sub/b.md"} and set(await items(project, "a.md")) == {"a.md"}
    assert await items(project, "not/there.md") == {} == await items(project, "never.md")


async def test_what_checkpoints_leave_out_is_left_out(project: Path) -> None:
    for path in (".git/HEAD", "node_modules/x.js", "build/out.o", "main.log", "cache/CACHEDIR.TAG", "cache/x"):
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text("Signature: 8a477f597d28d172789f06886806bc55")
    assert await items(project, "", "build/", "*.log") == {}


async def test_no_link_is_followed_and_nothing_but_files_is_opened(project: Path, tmp_path: Path) -> None:
    (secret := tmp_path / "secret").write_text("a")
    (outside := tmp_path / "outside").mkdir()
    (outside / "x").write_text("a")
    (project / "file").symlink_to(secret)
    (project / "folder").symlink_to(outside)
    (project / "loop").symlink_to("loop")
    os.mkfifo(project / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(project / "socket"))
    first = await items(project)
    assert set(first) == {"file", "folder", "loop"}
    secret.write_text("b")
    (outside / "y").write_text("b")
    assert await items(project) == first, "where a link leads to is not looked at"
    (project / "file").unlink()
    (project / "file").symlink_to(outside)
    assert (await items(project))["file"] != first["file"]
    with pytest.raises(InvalidRequest):
        await items(project, "folder/x")
    project.rename(tmp_path / "moved")
    project.symlink_to(tmp_path / "moved")
    with pytest.raises(InvalidRequest):
        await items(project)


async def test_a_folder_of_too_many_files_is_given_up_in_time_and_memory(project: Path) -> None:
    for number in range(11_000):
        os.close(os.open(project / str(number), os.O_CREAT | os.O_WRONLY))
    tracemalloc.start()
    began_s = time.monotonic()
    with pytest.raises(ToolFault, match="more than 10000 files"):
        await items(project)
    took_s, (_, most_bytes) = time.monotonic() - began_s, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert took_s < 15 and most_bytes < 50_000_000


async def test_a_look_that_takes_too_long_is_given_up_and_a_large_file_is_not_read(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (project / "large").open("wb") as file:
        file.truncate(50_000_000_000)
    first = await items(project)
    with (project / "large").open("r+b") as file:
        file.truncate(50_000_000_001)
    assert await items(project) != first
    deep = project
    for _ in range(200):
        deep = deep / "d"
        deep.mkdir()
    assert set(await items(project)) == {"large"}
    monkeypatch.setattr(file_looks, "LIMIT_S", -1.0)
    with pytest.raises(ToolFault, match="longer than"):
        await items(project)


async def test_a_name_that_no_terminal_prints_is_shown_escaped(project: Path) -> None:
    (project / "a\x1b[31m\n").write_text("x")
    Path(os.fsdecode(os.fsencode(str(project)) + b"/\xff")).write_text("x")
    assert all(name.isprintable() for name in await items(project))
    assert len(await items(project)) == 2
