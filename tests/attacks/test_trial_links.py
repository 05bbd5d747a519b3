"""Links that lead out of the folder: none is carried over, asked or not, however many steps it takes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stead.config import Home
from stead.domain.ids import SessionId
from stead.domain.trials import Choice
from stead.machines.changes import changes
from stead.machines.held_changes import apply
from stead.machines.landing import land
from stead.machines.layers import opened
from stead.machines.links import leads_out
from stead.machines.space import Space
from stead.machines.workspace import opened_workspace

SESSION = SessionId("s_0123456789abcdef")
Links = dict[str, str]

LEAD_OUT: dict[str, tuple[Links, Links, str]] = {
    # name: (the person's own links, the trial's links, the one that is to be held)
    "absolute": ({}, {"x": "/etc/passwd"}, "x"),
    "absolute and into the folder": ({}, {"x": "//work/a"}, "x"),
    "up from the top": ({}, {"x": "../outside"}, "x"),
    "up from below": ({}, {"p/q/x": "../../../outside"}, "p/q/x"),
    "up and down again": ({}, {"p/x": "../../project/a"}, "p/x"),
    "up with dots between": ({}, {"p/x": ".././../outside"}, "p/x"),
    "up with slashes between": ({}, {"p/x": "..//..//outside"}, "p/x"),
    "two in a row": ({}, {"p/q/d": "../../a", "p/q/x": "d/../../outside"}, "p/q/x"),
    "a link to the folder itself, then up": ({}, {"p/q/d": "../..", "p/q/x": "d/../outside"}, "p/q/x"),
    "up after a name that is not there yet": ({}, {"x": "later/../../outside"}, "x"),
    "up after a real folder, which may become a link": ({}, {"p/x": "q/../../a"}, "p/x"),
    "up after a name, ending inside": ({}, {"x": "a/../p"}, "x"),
    "through the person's own link": ({"own": "/etc"}, {"x": "own/passwd"}, "x"),
    "to the person's own link": ({"own": "/etc/passwd"}, {"x": "own"}, "x"),
    "through the person's own link below": ({"a/own": "../.."}, {"p/x": "../a/own/outside"}, "p/x"),
    "through the person's own link, by a link of the trial": ({"own": "/etc"}, {"d": "own", "x": "d/passwd"}, "x"),
    "through a link that the trial replaces": ({"own": "/etc"}, {"own": "a", "x": "own/passwd"}, "x"),
    "through three of the trial's": ({"own": ".."}, {"d": "e", "e": "f", "f": "own", "x": "d/outside"}, "x"),
    "round and round": ({}, {"d": "e", "e": "d", "x": "d/k"}, "x"),
    "through itself": ({}, {"x": "x/x/x"}, "x"),
    "a chain too long to follow": ({}, {f"l{n}": f"l{n + 1}" for n in range(60)} | {"x": "l0"}, "x"),
    "many branches": ({"l": "m", "m": "l"}, {"l": "m/m", "m": "l/l", "x": "l/m/l/m"}, "x"),
}
STAY_IN: dict[str, tuple[Links, Links, str]] = {
    "a neighbour": ({}, {"x": "a"}, "x"),
    "a file below": ({}, {"x": "a/k"}, "x"),
    "up and in": ({}, {"p/q/x": "../../a/k"}, "p/q/x"),
    "through a link that stays in": ({"own": "a"}, {"x": "own/k"}, "x"),
    "through a link of the trial": ({}, {"d": "p/q", "x": "d/k"}, "x"),
    "what is not there": ({}, {"x": "not/there"}, "x"),
    "the folder itself": ({}, {"p/x": ".."}, "p/x"),
    "a name with dots": ({}, {"x": "..a"}, "x"),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    for name in ("a/k", "p/q/k"):
        (project / name).parent.mkdir(parents=True)
        (project / name).write_text("x")
    (tmp_path / "outside").write_text("the person's own\n")
    return project


def waiting(project: Path, own: Links, new: Links) -> Space:
    """These links wait, as a machine's overlay would have left them."""
    link(project, own)
    home = Home(project.parent / "home")
    home.make()
    space = Space(home, SESSION, str(project))
    space.prepare()
    link(space.pending, new)
    return space


def link(root: Path, links: Links) -> None:
    for path, target in links.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).symlink_to(target)


@pytest.mark.parametrize("case", LEAD_OUT)
def test_a_link_that_may_lead_out_is_refused_with_its_call(project: Path, case: str) -> None:
    own, new, path = LEAD_OUT[case]
    landing = land(waiting(project, own, new), {}, "obeyed")
    assert path in {one.path for one in landing.refused} and path not in landing.landed
    assert not (project / path).is_symlink() or os.readlink(project / path) != new[path]
    for landed in landing.landed:
        assert Path(os.path.realpath(project / landed)).is_relative_to(project)


@pytest.mark.parametrize("chosen", ["all", "by its name"])
@pytest.mark.parametrize("case", LEAD_OUT)
def test_one_that_waits_is_never_applied(project: Path, case: str, chosen: str) -> None:
    own, new, path = LEAD_OUT[case]
    space = waiting(project, own, new)
    assert {change.path: change.held for change in changes(space)}[path] == "impossible"
    choice = Choice((path,) if chosen == "by its name" else (), force=True, include_protected=True)
    applied = apply(space, choice)
    assert path in {held.path for held in applied.held} and path not in applied.done
    assert not (project / path).is_symlink() or os.readlink(project / path) != new[path]
    for done in applied.done:
        assert Path(os.path.realpath(project / done)).is_relative_to(project)


@pytest.mark.parametrize("case", STAY_IN)
def test_a_link_that_stays_in_lands(project: Path, case: str) -> None:
    own, new, path = STAY_IN[case]
    space = waiting(project, own, new)
    assert {change.held for change in changes(space)} == {""}
    land(space, {}, "obeyed")
    assert os.readlink(project / path) == new[path]


def test_a_folder_that_becomes_a_link_after_the_look_is_seen_when_the_link_is_made(project: Path) -> None:
    space = waiting(project, {}, {"x": "a/outside"})
    assert changes(space)[0].held == ""
    with opened_workspace(str(project)) as lower, opened(str(space.pending)) as upper:
        assert not leads_out((upper, lower), "x", "a/outside")
        (project / "a").rename(project / "b")
        (project / "a").symlink_to("..")
        assert leads_out((upper, lower), "x", "a/outside")
    assert apply(space, Choice((), force=True, include_protected=True)).done == ()
