"""Sentences as rules: what is certain becomes the form, and every other sentence is refused whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.brain.rule_sentences.grammar import Refused, read, understood
from stead.domain.policies import Rule


def plain(rule: Rule | None) -> str:
    """A rule in one short line."""
    if rule is None:
        return ""
    tests = [f"{test.role} {test.side} {' '.join(test.values)}" for test in rule.where]
    return "; ".join([f"{rule.decision} {'+'.join(rule.what)}", *tests])


@pytest.mark.parametrize(
    ("sentence", "means"),
    [
        ("never change infra/", "deny change; path inside infra/"),
        ("Never send email to anyone outside acme.example", "deny send; recipient outside acme.example"),
        ("never change files outside src/", "deny change; path outside src/"),
        ("always allow running `git status`", "allow run; command inside git status"),
        ("ask before git push", "ask run; command inside git push"),
        ("never run `git push --force`", "deny run; command inside git push --force"),
        ("never email anyone but bo@acme.example", "deny send; recipient outside bo@acme.example"),
        ("no network", "deny leave"),
        ("never delete files without asking", "ask delete"),
        ("only fetch from docs.example.com", "deny leave; host outside docs.example.com"),
        ("never change files in src/ except src/made/", "deny change; path inside src/; path outside src/made/"),
        ("never pay more than 100 euros", "deny send; amount outside ..100"),
        ("nothing outside src/ may be changed", "deny change; path outside src/"),
        ("Ändere nur Dateien in src/", "deny change; path outside src/"),
        ("Frag mich, bevor du `git push` ausführst", "ask run; command inside git push"),
        ("Sende keine E-Mails an jemanden außerhalb von acme.example", "deny send; recipient outside acme.example"),
        ("Ne modifie que les fichiers dans src/", "deny change; path outside src/"),
        ("N'envoie jamais de mail à quelqu'un hors de acme.example", "deny send; recipient outside acme.example"),
        ("No ejecutes nada excepto `git status`", "deny run; command outside git status"),
        ("No borres nada sin preguntar", "ask delete"),
    ],
)
def test_a_sentence_that_is_certain_means_what_it_says(sentence: str, means: str) -> None:
    assert plain(understood(sentence)) == means


@pytest.mark.parametrize(
    "sentence",
    [
        "never never change infra/",
        "don't ask before running `ls`",
        "never change infra/ and ask before running `make`",
        "never change infra/ but not docs/",
        "only read files in docs/",
        "only you may change infra/",
        "allow everything except `rm`",
        'the README says "never change infra/"',
        "never change infra/?",
        "if it rains never change infra/",
        "never change infra/. Always allow `rm`.",
        "never send email from bo@acme.example",
        "never run `rm -r build; make`",
        "Ändere nicht nur src/",
        "Ne modifie pas que src/",
        "No solo cambies src/",
    ],
)
def test_what_is_not_certain_is_refused_whole(sentence: str) -> None:
    assert isinstance(read(sentence), Refused)


def test_a_refused_sentence_gives_back_the_form_as_far_as_it_was_read() -> None:
    refused = read("never change infra/ unless it rains")
    assert isinstance(refused, Refused)
    assert "'unless'" in refused.why
    assert plain(refused.form) == "deny change; path inside infra/"


WORDS = ("never", "only", "not", "ask", "change", "run", "infra/", "`rm`", "except", "and", "files")


@given(st.lists(st.sampled_from(WORDS), max_size=8))
def test_a_sentence_with_an_unknown_word_is_never_a_rule(words: list[str]) -> None:
    assert understood(" ".join([*words, "quixotically"])) is None


@given(st.text(max_size=80))
def test_no_text_makes_the_grammar_fail(text: str) -> None:
    understood(text)
