"""Which folders may become a workspace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stead.domain.errors import InvalidRequest
from stead.machines.workspace import check_directory, enter


@pytest.fixture
def user_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "people" / "ada"
    (home / ".ssh").mkdir(parents=True)
    (home / ".config/tool").mkdir(parents=True)
    (home / ".stead/data").mkdir(parents=True)
    (home / "work/project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    return home


def check(path: object, user_home: Path, *, writable: bool = False) -> str:
    return check_directory(str(path), user_home / ".stead", writable=writable)


def test_a_project_folder_is_given_by_its_real_path(user_home: Path) -> None:
    (user_home / "link").symlink_to("work/project")
    assert check(user_home / "link", user_home, writable=True) == str(user_home / "work/project")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/", "belongs to the system"),
        *(
            (path, "belongs to the system")
            for path in ("/etc", "/etc/ssl", "/proc/self", "/sys", "/dev", "/usr", "/var")
        ),
        ("/home", "belongs to the system"),
        ("{home}", "holds your home folder"),
        ("{home}/..", "holds your home folder"),
        ("{home}/.ssh", "hidden folders"),
        ("{home}/.config/tool", "hidden folders"),
        ("{home}/.stead", "hidden folders"),
        ("{home}/sly", "hidden folders"),
        ("{home}/nothing", "there is no folder"),
        ("{home}/file", "there is no folder"),
        ("work/project", "not an absolute path"),
    ],
)
def test_what_shows_too_much_is_refused(path: str, why: str, user_home: Path) -> None:
    (user_home / "sly").symlink_to(".ssh")
    (user_home / "file").touch()
    with pytest.raises(InvalidRequest, match=why):
        check(path.format(home=user_home), user_home)


def test_steads_home_is_never_shown_wherever_it_lies(user_home: Path) -> None:
    stead = user_home / "work/project/stead"
    (stead / "data").mkdir(parents=True)
    for shown in (stead, stead / "data", stead.parent):
        with pytest.raises(InvalidRequest, match="Stead's own home"):
            check_directory(str(shown), stead, writable=False)
    assert check_directory(str(user_home / "work/project"), user_home / "work/other", writable=False)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may enter every folder")
def test_a_folder_that_may_not_be_written_is_refused(user_home: Path) -> None:
    project = user_home / "work/project"
    project.chmod(0o500)
    assert check(project, user_home)
    with pytest.raises(InvalidRequest, match="may not read and write"):
        check(project, user_home, writable=True)


def test_a_workspace_is_not_entered_through_a_link_that_was_put_above_it(tmp_path: Path) -> None:
    workspace = tmp_path / "harbour" / "quay" / "ink"
    workspace.mkdir(parents=True)
    (tmp_path / "elsewhere" / "ink").mkdir(parents=True)
    os.close(enter(str(workspace)))
    (tmp_path / "harbour" / "quay").rename(tmp_path / "was")
    (tmp_path / "harbour" / "quay").symlink_to(tmp_path / "elsewhere")
    assert workspace.is_dir(), "whoever follows links gets there"

    with pytest.raises(NotADirectoryError):
        enter(str(workspace))


def test_no_workspace_shows_the_files_of_memory(user_home: Path) -> None:
    memory = user_home / "work/memory"
    (memory / "private").mkdir(parents=True)
    for path in (memory, memory / "private", user_home / "work"):
        with pytest.raises(InvalidRequest, match="another memory_folder"):
            check_directory(str(path), user_home / ".stead", writable=False, memory=memory)
    beside = str(user_home / "work/project")
    assert check_directory(beside, user_home / ".stead", writable=True, memory=memory) == beside
