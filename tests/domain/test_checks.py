"""What a check's command runs, and the work changed, by names."""

from __future__ import annotations

import pytest

from stead.domain.checks import touched_by


@pytest.mark.parametrize(
    ("line", "changed", "touched"),
    [
        ("make test", ["Makefile", "src/a.c"], ["Makefile"]),
        ("cd app && npm test", ["package.json", "index.js"], ["package.json"]),
        ("./check.sh --all", ["check.sh"], ["check.sh"]),
        ("bash tools/check.sh", ["tools/check.sh", "check.sh"], ["tools/check.sh"]),
        (
            "python3 -m pytest tests/",
            ["tests/test_a.py", "src/a.py", "conftest.py"],
            ["tests/test_a.py", "conftest.py"],
        ),
        ("grep -q total out.txt", ["out.txt"], []),
        ("test -s out.txt && ! grep -q x out.txt", ["out.txt"], []),
        ("grep -q ok out.txt && ./check.sh", ["out.txt", "check.sh"], ["check.sh"]),
        ("true", ["true/a"], ["true/a"]),
        ("", ["a"], []),
        ("make .", ["a"], []),
    ],
)
def test_what_a_command_runs_is_named_and_what_it_looks_at_is_not(
    line: str, changed: list[str], touched: list[str]
) -> None:
    assert list(touched_by(line, changed)) == touched


def test_a_long_line_and_many_paths_are_bounded() -> None:
    assert len(touched_by("sh " + "a " * 1000, [f"a/{n}" for n in range(5000)])) == 20
