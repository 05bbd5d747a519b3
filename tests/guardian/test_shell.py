"""How risky a shell command is: the corpus, what no text can do, and what a person is told."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stead.domain.policies import Risk
from stead.guardian.shell import LIMIT_CHARS, assess
from stead.guardian.shell_rules import RULES
from tests.guardian.shell_mutants import Sample, load

ORDER = list(Risk)
READ_ONLY = load("read_only")
DANGEROUS = load("dangerous")
HELD_OUT = load("held_out")
MIXED = [sample for sample in HELD_OUT if sample.risk is not Risk.LOW]


@pytest.mark.parametrize("sample", [*DANGEROUS, *MIXED], ids=lambda sample: f"{sample.note}: {sample.command!a}")
def test_a_dangerous_command_gets_no_less_than_its_risk(sample: Sample) -> None:
    assert ORDER.index(assess(sample.command).risk) >= ORDER.index(sample.risk), assess(sample.command)


@pytest.mark.parametrize("samples", [READ_ONLY, [one for one in HELD_OUT if one.risk is Risk.LOW]])
def test_nine_of_ten_commands_that_only_read_need_no_asking(samples: list[Sample]) -> None:
    asked = [sample.command for sample in samples if assess(sample.command).risk is not Risk.LOW]

    assert len(asked) <= len(samples) / 10, asked


def test_the_corpus_is_as_large_as_it_should_be() -> None:
    assert len(READ_ONLY) + len(DANGEROUS) >= 300
    assert len(READ_ONLY) >= 100
    assert len(HELD_OUT) >= 80


def test_what_only_reads_says_so_and_changes_nothing() -> None:
    found = assess("cat src/app.py | head -20")

    assert (found.risk, found.changes, found.shape) == (Risk.LOW, False, "cat src/app.py | head -20")
    assert [reason.rule for reason in found.reasons] == ["shell-reads"]
    assert found.paths == ("src/app.py",)
    assert [command[0] for command in found.commands] == ["cat", "head"]


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("cp ./src/../a.txt /work/b.txt", ("a.txt", "b.txt")),
        ("cd src && cat app.py", ("src/app.py",)),
        ("python3 tools/run.py data.csv", ("tools/run.py", "data.csv")),
        ("./build.sh", ("build.sh",)),
        ("sort data.csv > out.txt 2>/dev/null", ("data.csv", "out.txt")),
        ("cat /etc/hosts", ("/etc/hosts",)),
        ("pytest -q tests", ("tests",)),
        ("echo $(cat a.txt)", ("a.txt",)),
        ("ls *.py", ()),
    ],
)
def test_the_files_that_a_command_names_are_listed(command: str, paths: tuple[str, ...]) -> None:
    assert set(assess(command).paths) >= set(paths)
    assert bool(assess(command).paths) is bool(paths)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("git  commit -m 'say it'", 'git commit -m "say it"'),
        ("make   test # all of it", "make test"),
        ("mkdir a\\ b", "mkdir 'a b'"),
        ("mkdir a;\\\n", "mkdir a;"),
    ],
)
def test_commands_that_are_the_same_have_the_same_shape(one: str, other: str) -> None:
    if assess(one).shape:
        assert assess(one).shape == assess(other).shape
    else:
        assert assess(one).risk in (Risk.HIGH, Risk.CRITICAL)


@pytest.mark.parametrize(
    ("granted", "asked"),
    [
        ("make test", "make test install"),
        ("make test", "make test; rm notes.txt"),
        ("make test", "make test && make install"),
        ("make test", "make 'test install'"),
        ("cat a.txt b.txt", "cat 'a.txt b.txt'"),
        ("mkdir '*'", "mkdir *"),
        ("git commit -m x", "git commit -m x --amend"),
        ("mkdir a b", "mkdir a\nb"),
        ("mkdir a && mkdir b", "mkdir a || mkdir b"),
        ("(mkdir a; mkdir b)", "mkdir a; mkdir b"),
        ("echo a > b", "echo a >> b"),
        ("echo 2 > b", "echo 2> b"),
    ],
)
def test_a_shape_covers_no_other_command(granted: str, asked: str) -> None:
    assert assess(granted).shape
    assert assess(granted).shape != assess(asked).shape


@pytest.mark.parametrize(
    "command", ["rm -rf /", "$EDITOR x", "frobnicate", "python3 -c 'x'", "sudo make", "echo $HOME", "sort --weird"]
)
def test_what_is_critical_or_not_understood_has_no_shape(command: str) -> None:
    assert assess(command).shape == ""


@pytest.mark.parametrize("command", [*dict.fromkeys(sample.command for sample in [*READ_ONLY, *DANGEROUS, *HELD_OUT])])
def test_a_shape_is_its_own_shape(command: str) -> None:
    found = assess(command)
    if found.shape:
        again = assess(found.shape)
        assert (again.shape, again.risk) == (found.shape, found.risk)


@given(st.text() | st.text("ls;|&$`'\"\\<>(){}*?[]!#~-=/. \n\t\r\0abrm", max_size=60))
@example("\ud800")
@example("ls \\")
@example("")
@example("!")
def test_no_text_is_too_odd_for_a_judgement(text: str) -> None:
    found = assess(text)

    assert found.reasons
    assert all(reason.rule in RULES and reason.text for reason in found.reasons)
    assert found == assess(text)


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "(",
            ")(",
            "$(",
            "${",
            '"',
            "ls|",
            "ls;",
            "<<",
            "cat <<A\n",
            "a=( ",
            "[[ ( ",
            "find . -exec ",
            "sudo ",
            ".g*/",
        ),
        *("'a' ", 'eval "', "\n", "\\", "git push ", "rm -r a ", "else = case ", "`", "ü", "s/a/b/;"),
    ],
)
def test_no_text_takes_long(unit: str) -> None:
    text = (unit * LIMIT_CHARS)[:LIMIT_CHARS]
    began = time.process_time()
    found = assess(text)
    assert time.process_time() - began < 5, "a command was read for seconds"
    assert found.reasons


def test_what_is_longer_than_the_limit_is_not_read() -> None:
    found = assess("ls " * LIMIT_CHARS)

    assert (found.risk, found.reasons[0].rule) == (Risk.CRITICAL, "shell-too-long")


def test_a_hidden_character_is_shown_by_its_number() -> None:
    assert "\\u202e" in assess("ls \u202etxt").reasons[0].text


def test_reasons_come_worst_first() -> None:
    found = assess("echo x > out.txt; frobnicate; rm -rf /")

    risks = [ORDER.index(RULES[reason.rule].risk) for reason in found.reasons]
    assert risks == sorted(risks, reverse=True)
    assert found.reasons[0].rule == "shell-destroys"


def test_the_same_command_in_another_folder_is_another_matter() -> None:
    assert assess("cd /work && git log -3").risk is Risk.LOW
    for escape in ("cd vendor &&", "cd vendor; (cd /work);", "cd vendor; cd /work | true;", "cd vendor; env cd /work;"):
        assert assess(f"{escape} git log -3").risk is Risk.HIGH


@pytest.mark.parametrize("command", ["cd no; cd ..; cat etc/hosts", "cd src; cat ../../x", "cd src/app && ls ../.."])
def test_a_folder_that_may_not_be_entered_hides_no_way_out(command: str) -> None:
    assert assess(command).risk is Risk.HIGH


@pytest.mark.parametrize("back", ["cd /work/no", "(cd /work)", "env cd /work", "cd /work | cat"])
def test_a_folder_that_may_not_be_left_is_still_protected(back: str) -> None:
    assert assess(f"cd .git; {back}; echo x > config").risk is Risk.CRITICAL


def test_every_rule_of_the_table_is_met_by_some_command() -> None:
    met = {reason.rule for sample in [*READ_ONLY, *DANGEROUS, *HELD_OUT] for reason in assess(sample.command).reasons}

    assert RULES.keys() - met == {"shell-too-long"}
