"""Looking at folders and files of this computer: what is shown, what is not, and what hostile folders can do."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import msgspec
import pytest

from stead.domain.errors import InvalidRequest, NotFound
from stead.domain.folders import FolderRow
from stead.machines.looking import MOST_BYTES, MOST_FILES, MOST_FOLDERS, HostFolders
from stead.machines.workspace import check_directory


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home, with a Stead in it."""
    home = tmp_path / "people" / "ada"
    for folder in (".ssh", ".stead/data", "quill/src", "Ink", "papers"):
        (home / folder).mkdir(parents=True)
    (home / "notes.md").write_text("Notes.")
    (home / "way-out").symlink_to("/etc")
    (home / "short").symlink_to("quill/src")
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def host(person: Path) -> HostFolders:
    return HostFolders(person / ".stead")


@pytest.fixture
def workspace(person: Path) -> Path:
    return person / "quill"


async def rows(host: HostFolders, path: Path) -> dict[str, FolderRow]:
    return {row.name: row for row in (await host.folders(str(path))).folders}


# -- folders --------------------------------------------------------------------------------------------------------


async def test_the_home_is_where_choosing_begins(host: HostFolders, person: Path) -> None:
    listing = await host.folders("")

    assert (listing.path, listing.parent) == (str(person), str(person.parent))
    assert not listing.allowed
    assert "holds your home folder" in listing.why
    assert [row.name for row in listing.folders] == ["Ink", "papers", "quill", "short", "way-out", ".ssh", ".stead"]
    assert not listing.truncated
    assert listing.folders[0] == FolderRow("Ink", str(person / "Ink"), True, "", False, "")


async def test_what_may_be_a_workspace_is_what_an_objective_takes(host: HostFolders, person: Path) -> None:
    found = [*(await host.folders(str(person))).folders, *(await host.folders("/")).folders]
    for row in found:
        try:
            check_directory(row.path, person / ".stead", writable=True)
            allowed = True
        except InvalidRequest as refused:
            allowed = False
            assert row.why == str(refused)
        assert row.allowed is allowed, row
    assert {row.allowed for row in found} == {True, False}


async def test_links_are_told_and_judged_by_where_they_lead(host: HostFolders, person: Path) -> None:
    found = await rows(host, person)

    assert (found["short"].link, found["short"].allowed) == ("quill/src", True)
    assert (found["way-out"].link, found["way-out"].allowed) == ("/etc", False)
    assert found["quill"].link == ""
    assert (await host.folders(str(person / "short"))).path == str(person / "quill" / "src"), "where one really is"


@pytest.mark.parametrize("path", ["{home}/.ssh", "{home}/.stead", "{home}/.stead/data", "/etc", "/proc/self", "/sys"])
async def test_where_no_workspace_can_be_nothing_is_listed(host: HostFolders, person: Path, path: str) -> None:
    with pytest.raises(InvalidRequest, match="is not shown: "):
        await host.folders(path.format(home=person))


async def test_a_link_is_no_way_around_that(host: HostFolders, person: Path) -> None:
    (person / "sly").symlink_to(".ssh")
    for name in ("sly", "way-out"):
        with pytest.raises(InvalidRequest, match="is not shown: "):
            await host.folders(str(person / name))


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("quill", InvalidRequest),
        ("/a\0b", InvalidRequest),
        ("/" + "x" * 5000, InvalidRequest),
        ("{home}/gone", NotFound),
        ("{home}/notes.md", NotFound),
    ],
)
async def test_what_is_no_folder_says_so(
    host: HostFolders, person: Path, path: str, fault: type[InvalidRequest] | type[NotFound]
) -> None:
    with pytest.raises(fault):
        await host.folders(path.format(home=person))


async def test_folders_are_bounded(host: HostFolders, person: Path) -> None:
    for number in range(MOST_FOLDERS + 5):
        (person / "papers" / f"{number:05}").mkdir()

    listing = await host.folders(str(person / "papers"))

    assert listing.truncated
    assert [row.name for row in listing.folders][:2] == ["00000", "00001"]
    assert len(listing.folders) == MOST_FOLDERS


async def test_a_name_that_cannot_be_printed_is_shown_escaped_and_not_allowed(host: HostFolders, person: Path) -> None:
    for name in (b"caf\xe9", b"a\nb", "\u202eevil".encode()):
        os.mkdir(os.fsencode(person / "papers") + b"/" + name)

    listing = await host.folders(str(person / "papers"))

    assert sorted(row.name for row in listing.folders) == ["\\u202eevil", "a\\nb", "caf\\udce9"]
    assert not any(row.allowed for row in listing.folders)
    assert msgspec.json.encode(listing)


# -- files ----------------------------------------------------------------------------------------------------------


async def test_one_level_is_shown_folders_first_and_the_repository_last(host: HostFolders, workspace: Path) -> None:
    (workspace / ".git").mkdir()
    (workspace / "README.md").write_text("Quill.")
    os.utime(workspace / "README.md", ns=(0, 1_700_000_000_123_456_789))
    (workspace / "a-link").symlink_to("/etc/passwd")
    os.mkfifo(workspace / "pipe")

    listing = await host.files(str(workspace), "")

    assert [(row.name, row.kind, row.size_bytes, row.link) for row in listing.files] == [
        ("src", "folder", 0, ""),
        ("a-link", "link", 0, "/etc/passwd"),
        ("pipe", "other", 0, ""),
        ("README.md", "file", 6, ""),
        (".git", "folder", 0, ""),
    ]
    assert listing.files[3].modified_ms == 1_700_000_000_123
    (workspace / "src" / "main.py").touch()
    (inner,) = (await host.files(str(workspace), "src")).files
    assert inner.path == "src/main.py"


async def test_files_are_bounded(host: HostFolders, workspace: Path) -> None:
    for number in range(MOST_FILES + 1):
        (workspace / f"{number:05}").touch()

    listing = await host.files(str(workspace), "")

    assert (len(listing.files), listing.truncated) == (MOST_FILES, True)


@pytest.mark.parametrize("path", ["..", "src/..", "../ada/quill", "/etc", "src/../..", ".", "a\0b", "x/" * 200])
async def test_no_path_leads_out(host: HostFolders, workspace: Path, path: str) -> None:
    for look in (host.files, host.content):
        with pytest.raises((InvalidRequest, NotFound)):
            await look(str(workspace), path)
    with pytest.raises((InvalidRequest, NotFound)):
        await host.content(str(workspace), f"{path}/passwd")


async def test_no_link_leads_out_be_it_last_or_on_the_way(host: HostFolders, workspace: Path) -> None:
    (workspace / "etc").symlink_to("/etc")
    (workspace / "passwd").symlink_to("/etc/passwd")
    (workspace / "src" / "up").symlink_to("..")

    for path in ("etc", "src/up"):
        with pytest.raises(InvalidRequest, match="links are not followed"):
            await host.files(str(workspace), path)
    for path in ("etc/passwd", "passwd", "src/up/README.md"):
        with pytest.raises(InvalidRequest):
            await host.content(str(workspace), path)


async def test_a_folder_above_that_became_a_link_leads_nowhere_else(host: HostFolders, person: Path) -> None:
    """A session that works in the folder above may put a link in its place."""
    workspace = person / "papers" / "ink"
    workspace.mkdir(parents=True)
    (person / ".ssh" / "ink").mkdir()
    (person / ".ssh" / "ink" / "key").write_text("do not show")
    (person / "papers").rename(person / "was")
    (person / "papers").symlink_to(".ssh")

    with pytest.raises(InvalidRequest, match="links are not followed"):
        await host.files(str(workspace), "")
    with pytest.raises(InvalidRequest, match="links are not followed"):
        await host.content(str(workspace), "key")


async def test_neither_pipe_nor_socket_nor_folder_is_opened(
    host: HostFolders, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(workspace / "pipe")
    listener = socket.socket(socket.AF_UNIX)
    monkeypatch.chdir(workspace)  # the path of a socket has to be short
    listener.bind("sock")
    listener.close()
    for name in ("pipe", "sock", "src"):
        with pytest.raises(InvalidRequest, match="it has no text"):
            await host.content(str(workspace), name)


@pytest.mark.parametrize(
    ("content", "encoding", "text"),
    [
        (b"", "utf-8", ""),
        ("Größe\r\n".encode(), "utf-8", "Größe\r\n"),
        ("\ufeffInk".encode(), "utf-8-sig", "Ink"),
        ("Ink".encode("utf-16"), "utf-16", "Ink"),
        (b"\x1b]0;evil\x07<script>", "utf-8", "\x1b]0;evil\x07<script>"),
        (b"\x7fELF\0\0", "", ""),
        (b"caf\xe9", "", ""),
        (b"\xff\xfe\0", "", ""),
        (b"cut \xe2\x82", "", ""),
    ],
)
async def test_text_is_told_from_what_is_none(
    host: HostFolders, workspace: Path, content: bytes, encoding: str, text: str
) -> None:
    (workspace / "file").write_bytes(content)

    found = await host.content(str(workspace), "file")

    assert (found.encoding, found.text, found.binary) == (encoding, text, not encoding)
    assert (found.size_bytes, found.truncated, found.path) == (len(content), False, "file")
    assert msgspec.json.encode(found)


async def test_a_long_text_is_cut_between_characters(host: HostFolders, workspace: Path) -> None:
    (workspace / "long").write_bytes(b"x" + "é".encode() * MOST_BYTES)

    found = await host.content(str(workspace), "long")

    assert found.truncated
    assert found.size_bytes == 1 + 2 * MOST_BYTES
    assert found.text == "x" + "é" * (MOST_BYTES // 2 - 1)


async def test_an_odd_name_is_found_by_how_it_is_shown(host: HostFolders, workspace: Path) -> None:
    odd = os.fsencode(workspace) + b"/caf\xe9\n"
    os.mkdir(odd)
    with open(odd + b"/\xff", "w") as file:
        file.write("found")

    (row,) = [row for row in (await host.files(str(workspace), "")).files if row.name.startswith("caf")]
    (inner,) = (await host.files(str(workspace), row.path)).files

    assert (await host.content(str(workspace), inner.path)).text == "found"
