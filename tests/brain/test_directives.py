"""What a model is told before all else is made of Stead's words and the directives that are on, and of nothing else."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from stead.brain.context import INSTRUCTIONS, SESSION_INSTRUCTIONS
from stead.brain.directives import could_be_rules, instructions, prompt
from stead.brain.estimate import estimate_tokens
from stead.domain.directives import Directive, DirectiveId, DirectiveKind, Directives
from stead.runtime.starting_points import SEEDS, TEMPLATES

HERE, THERE = "/home/ada/quill", "/home/ada/tides"
KINDS: tuple[DirectiveKind, ...] = (
    "soul",
    "coding_style",
    "communication",
    "project_context",
    "behavioral_rules",
    "custom",
)

directive = st.builds(
    Directive,
    id=st.integers(0, 40).map(lambda number: DirectiveId(f"d_{number:016x}")),
    kind=st.sampled_from(KINDS),
    title=st.text(min_size=1, max_size=20),
    text=st.text(min_size=1, max_size=80),
    enabled=st.booleans(),
    order=st.integers(0, 6),
    directory=st.sampled_from(["", HERE, THERE]),
    version=st.integers(1, 3),
)


def kept(*found: Directive) -> Directives:
    """A home that has these."""
    directives = Directives()
    for one in found:
        directives = directives.with_one(one, 0, "cli")
    return directives


@given(st.lists(directive, max_size=12), st.sampled_from([HERE, THERE, "/elsewhere"]), st.booleans())
def test_the_core_comes_first_then_what_is_on_for_the_folder_souls_ahead_in_order(
    found: list[Directive], directory: str, interactive: bool
) -> None:
    directives = kept(*found)
    made = prompt(directives, directory, interactive=interactive)
    core, *rest = made.parts
    assert core.source == "core" and core.text.startswith(SESSION_INSTRUCTIONS if interactive else INSTRUCTIONS)
    wanted = {
        one.directive.id: one.directive
        for one in directives.kept.values()
        if one.directive.enabled and one.directive.directory in ("", directory)
    }
    assert {part.id for part in rest} == wanted.keys()
    told = [wanted[DirectiveId(part.id)] for part in rest]
    places = [(one.kind != "soul", one.order) for one in told]
    assert places == sorted(places)
    assert [part.text for part in rest] == [f"# {one.title}\n{one.text}" for one in told]
    assert made.text == "\n\n".join(part.text for part in made.parts)
    assert made.text == instructions(directives, directory, interactive=interactive, channel="")
    assert made.tokens == estimate_tokens(made.text)
    assert all(part.tokens == estimate_tokens(part.text) for part in made.parts)


@given(st.lists(directive, max_size=8, unique_by=lambda one: one.id), st.randoms())
def test_the_same_directives_make_the_same_bytes_in_whatever_order_they_came(
    found: list[Directive], random: object
) -> None:
    mixed = list(found)
    random.shuffle(mixed)  # type: ignore[attr-defined]  # Hypothesis's own Random
    assert instructions(kept(*found), HERE, interactive=True, channel="") == instructions(
        kept(*mixed), HERE, interactive=True, channel=""
    )


@given(st.lists(directive, min_size=1, max_size=8, unique_by=lambda one: one.id))
def test_what_is_off_or_elsewhere_changes_no_byte(found: list[Directive]) -> None:
    replace = msgspec.structs.replace
    off = kept(*(replace(one, enabled=False) for one in found))
    elsewhere = kept(*(replace(one, directory=THERE) for one in found))
    assert instructions(off, HERE, interactive=False, channel="") == INSTRUCTIONS
    assert instructions(elsewhere, HERE, interactive=True, channel="") == SESSION_INSTRUCTIONS


@given(st.lists(directive, max_size=8), st.sampled_from([HERE, THERE]), st.booleans())
def test_where_others_read_along_nothing_of_the_persons_is_in_it(
    found: list[Directive], directory: str, interactive: bool
) -> None:
    core = SESSION_INSTRUCTIONS if interactive else INSTRUCTIONS
    assert instructions(kept(*found), directory, interactive=interactive, channel="phone/-1") == core


@given(st.lists(directive, min_size=1, max_size=8, unique_by=lambda one: one.id), st.data())
def test_an_order_puts_its_own_first_and_leaves_the_rest_as_it_was(found: list[Directive], data: st.DataObject) -> None:
    directives = kept(*found)
    before = [one.directive.id for one in directives.in_order()]
    wanted = data.draw(st.lists(st.sampled_from(before), unique=True))
    after = [one.directive for one in directives.ordered(wanted).in_order()]
    by_order = [one.id for one in sorted(after, key=lambda one: one.order)]
    assert by_order == [*wanted, *(id for id in before if id not in wanted)]
    assert [one.kind != "soul" for one in after] == sorted(one.kind != "soul" for one in after)


def test_a_version_is_never_given_twice_not_even_after_a_removal() -> None:
    (seed,) = SEEDS[:1]
    directives = kept(msgspec.structs.replace(seed, version=7)).without(seed.id)
    assert directives.kept == {} and directives.versions == {seed.id: 7}


def test_a_new_home_pays_a_few_tokens_for_one_short_soul() -> None:
    made = prompt(kept(*SEEDS), HERE, interactive=True)
    assert [part.title for part in made.parts[1:]] == ["Soul"]
    assert made.tokens - estimate_tokens(SESSION_INSTRUCTIONS) <= 60
    assert len(made.text) - len(SESSION_INSTRUCTIONS) <= 120


def test_every_kind_has_a_template_and_there_is_a_dozen() -> None:
    assert {template.kind for template in TEMPLATES} == set(KINDS)
    assert len(TEMPLATES) >= 12
    assert len({template.title for template in TEMPLATES}) == len(TEMPLATES)


def test_only_sentences_that_are_understood_and_no_rules_yet_could_be_rules() -> None:
    text = "# Rails\n\n1. Never change infra/\n2. Be careful.\n> Ask before running `make`. Never change infra/"
    (seed,) = SEEDS[3:4]
    rails = msgspec.structs.replace(seed, text=text, directory=HERE)
    assert [rule.text for rule in could_be_rules(rails, ())] == ["Never change infra/", "Ask before running `make`."]
    known = [rule for rule in could_be_rules(rails, ()) if rule.text == "Never change infra/"]
    assert [rule.text for rule in could_be_rules(rails, known)] == ["Ask before running `make`."]
    assert all(rule.directory == HERE for rule in could_be_rules(rails, ()))
    assert could_be_rules(msgspec.structs.replace(rails, kind="custom"), ()) == ()
    many = "\n".join(f"- Never change folder{n}/" for n in range(900))
    assert len(could_be_rules(msgspec.structs.replace(rails, text=many), ())) == 20
