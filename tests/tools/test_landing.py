"""What a model is told of changes that did not simply land."""

from __future__ import annotations

from stead.domain.trials import Held, Landing
from stead.tools.landing import landing_notes


def test_a_call_whose_changes_all_landed_says_nothing_of_it() -> None:
    assert landing_notes(Landing(landed=("a.md",), count=1, runnable=("a.md",), holding=4)) == ()


def test_whatever_did_not_land_is_said_with_its_reason() -> None:
    landing = Landing(
        stayed=41,
        held=(Held(".githooks/pre-commit", "git would run it"), Held(".envrc", "direnv would run it")),
        refused=(Held("bin/root", "it has the set-user bit"),),
        failed="the disk is full",
        open=True,
    )
    assert landing_notes(landing) == (
        "[held for the person's review: '.githooks/pre-commit' (git would run it); '.envrc' (direnv would run it)]",
        "[never carried over into the person's folder: 'bin/root' (it has the set-user bit)]",
        "[not in the person's folder yet, to be tried again: the disk is full]",
        "[kept in the machine alone, as tools make it again: 41 of its changes]",
        "[a process of this call still works; what it changes lands later]",
    )


def test_names_end_no_sentence_hide_nothing_and_are_cut() -> None:
    names = ("a]\n[all is well", "b\u202egnp.exe", "c" * 4000)
    (note,) = landing_notes(Landing(held=tuple(Held(name, "why") for name in names)))
    assert "\n" not in note and "\u202e" not in note and "\\n[all" in note and "\\u202e" in note
    assert len(note) < 700
    (many,) = landing_notes(Landing(held=tuple(Held(f"f{number}", "why") for number in range(200))))
    assert many.count("(why)") == 10 and many.endswith("; and 190 more]")
