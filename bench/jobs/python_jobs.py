"""Jobs in projects of Python: a failing test, pytest from a folder of wheels, a new dependency, a refactoring."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from bench.jobs.job import (
    Done,
    Job,
    Model,
    Registry,
    edit,
    failed,
    lay_out,
    passes,
    read,
    same,
    says,
    shell,
    succeeded,
    touched,
    write,
)
from bench.jobs.registry import put_wheels, quillkit

# -- a failing test --------------------------------------------------------------------------------------------------

_STOCK = {
    "README.md": "# Stock\n\nCrates that come and go.\n",
    "stock/__init__.py": "",
    "stock/ledger.py": '''"""Crates in a warehouse."""

from __future__ import annotations

from collections import Counter


class Ledger:
    """What came in and what went out."""

    def __init__(self) -> None:
        self._crates: Counter[str] = Counter()

    def arrive(self, what: str, count: int) -> None:
        self._crates[what] += count

    def leave(self, what: str, count: int) -> None:
        if count < self._crates[what]:
            self._crates[what] -= count
        else:
            raise ValueError(f"only {self._crates[what]} crates of {what}")

    def left(self, what: str) -> int:
        return self._crates[what]
''',
    "tests/__init__.py": "",
    "tests/test_ledger.py": """import unittest

from stock.ledger import Ledger


class LedgerTest(unittest.TestCase):
    def setUp(self):
        self.ledger = Ledger()
        self.ledger.arrive("pears", 12)

    def test_some_leave(self):
        self.ledger.leave("pears", 5)
        self.assertEqual(self.ledger.left("pears"), 7)

    def test_all_leave(self):
        self.ledger.leave("pears", 12)
        self.assertEqual(self.ledger.left("pears"), 0)

    def test_more_than_all_stay(self):
        with self.assertRaises(ValueError):
            self.ledger.leave("pears", 13)
""",
}


def _fix_test(_registry: Registry) -> Model:
    tests = "python3 -m unittest discover -v"
    failed((yield shell(tests)), "test_all_leave", "only 12 crates of pears")
    says((yield read("stock/ledger.py")), "count < self._crates")
    says((yield shell('python3 -c "print(12 < 12, 12 <= 12)"')), "False True")
    yield edit("stock/ledger.py", "if count < self._crates[what]:", "if count <= self._crates[what]:")
    says(succeeded((yield shell(tests))), "OK")
    yield "The comparison left out the last crate."


def _tests_pass(done: Done) -> Iterator[str]:
    yield from passes(done, "python3", "-m", "unittest", "discover")
    yield from touched(done, "stock/ledger.py")


FIX_TEST = Job(
    "fix a failing test",
    lambda folder: lay_out(folder, _STOCK),
    ("All crates of a kind cannot leave: a test fails. Mend it.",),
    _fix_test,
    _tests_pass,
)

# -- pytest out of a folder of wheels --------------------------------------------------------------------------------

_PEARS = {
    "pears/__init__.py": "",
    "pears/weigh.py": "def total(weights):\n    return sum(weights[1:])\n",
    "tests/test_weigh.py": "from pears.weigh import total\n\n\ndef test_total():\n    assert total([3, 4, 5]) == 12\n",
}


def _make_pears(folder: Path) -> None:
    lay_out(folder, _PEARS)
    put_wheels(folder / "wheels")


def _use_pytest(_registry: Registry) -> Model:
    install = ".venv/bin/pip install --disable-pip-version-check --no-index --find-links wheels pytest"
    succeeded((yield shell(f"python3 -m venv .venv && {install}")))
    failed((yield shell("PYTHONPATH=. .venv/bin/pytest -q")), "assert 9 == 12", "1 failed")
    yield "pytest is there, and one test fails: the first weight is left out."
    yield edit("pears/weigh.py", "weights[1:]", "weights")
    says(succeeded((yield shell("PYTHONPATH=. .venv/bin/pytest -q"))), "1 passed")
    yield "All weights count."


def _pears_weigh(done: Done) -> Iterator[str]:
    yield from passes(done, "python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", PYTHONPATH=".")
    yield from touched(done, "pears/weigh.py")


USE_PYTEST = Job(
    "pytest from wheels",
    _make_pears,
    ("Set up pytest from the folder `wheels` and run the tests.", "Mend what fails."),
    _use_pytest,
    _pears_weigh,
)

# -- a dependency from an index --------------------------------------------------------------------------------------

_SHOP = {
    "requirements.txt": "",
    "shop.py": '"""What the shop sells."""\n\n\ndef offer(width):\n    return f"pen, {width} mm"\n',
    "test_shop.py": "import unittest\n\nfrom shop import offer\n\n\nclass ShopTest(unittest.TestCase):\n"
    '    def test_offer(self):\n        self.assertEqual(offer(3), "pen with a nib of 3 mm")\n',
}


def _add_dependency(registry: Registry) -> Model:
    index = f"--index-url http://{registry.pypi}/simple --trusted-host {registry.pypi}"
    yield write("requirements.txt", "quillkit==1.2.0\n")
    install = f".venv/bin/pip install --disable-pip-version-check {index} -r requirements.txt"
    says(succeeded((yield shell(f"python3 -m venv .venv && {install}", registry.pypi))), "installed quillkit-1.2.0")
    yield edit("shop.py", '"""What the shop sells."""\n', '"""What the shop sells."""\n\nfrom quillkit import nib\n')
    yield edit("shop.py", 'f"pen, {width} mm"', 'f"pen with a {nib(width)}"')
    says(succeeded((yield shell(".venv/bin/python -m unittest -v"))), "OK")
    yield "The shop uses quillkit."
    says(succeeded((yield shell(".venv/bin/pip list --disable-pip-version-check"))), "quillkit")
    yield "It is still installed."


def _shop_uses_it(done: Done) -> Iterator[str]:
    yield from same("requirements.txt", done.text("requirements.txt"), "quillkit==1.2.0\n")
    name, content = quillkit()
    (done.folder / name).write_bytes(content)
    yield from passes(done, "python3", "-m", "unittest", PYTHONPATH=f".:{name}")
    yield from touched(done, "requirements.txt", "shop.py")


ADD_DEPENDENCY = Job(
    "add a dependency",
    lambda folder: lay_out(folder, _SHOP),
    ("Use quillkit 1.2.0 for the text of an offer.", "Is it still installed?"),
    _add_dependency,
    _shop_uses_it,
    asks=2,  # a host that is new, and what is changed after something came in from it
)

# -- a refactoring over several files --------------------------------------------------------------------------------

_KINDS = ("apple", "pear", "plum", "quince", "cherry", "medlar")
_ORCHARD = {
    "orchard/__init__.py": "",
    "orchard/base.py": "class Tree:\n    kind = 'tree'\n\n"
    "    def get_yield_kg(self, years):\n        return years * 2\n",
    **{
        f"orchard/{kind}.py": f"from orchard.base import Tree\n\n\nclass {kind.title()}(Tree):\n    kind = '{kind}'\n\n"
        f"    def get_yield_kg(self, years):\n        return super().get_yield_kg(years) + {at}\n"
        for at, kind in enumerate(_KINDS)
    },
    "orchard/report.py": "".join(f"from orchard.{kind} import {kind.title()}\n" for kind in _KINDS)
    + "\nTREES = ("
    + ", ".join(f"{kind.title()}()" for kind in _KINDS)
    + ")\n\n\ndef total_kg(years):\n    return sum(tree.get_yield_kg(years) for tree in TREES)\n",
    "test_orchard.py": "import unittest\n\nfrom orchard.report import total_kg\n\n\nclass T(unittest.TestCase):\n"
    "    def test_total(self):\n        self.assertEqual(total_kg(5), 75)\n",
    "README.md": "# Orchard\n\nCall `tree.get_yield_kg(years)`.\n",
}
_CHANGED = ("README.md", "orchard/base.py", "orchard/report.py", *(f"orchard/{kind}.py" for kind in _KINDS))


def _refactor(_registry: Registry) -> Model:
    found = succeeded((yield shell("grep -rln get_yield_kg . --include='*.py' --include='*.md'")))
    says(found, "orchard/medlar.py", "README.md")
    script = (
        "python3 - <<'EOF'\n"
        "import pathlib, re\n"
        "for path in [*pathlib.Path('orchard').glob('*.py'), pathlib.Path('README.md')]:\n"
        "    text = path.read_text()\n"
        "    path.write_text(re.sub(r'\\bget_yield_kg\\b', 'harvest_kg', text))\n"
        "EOF"
    )
    succeeded((yield shell(script)))
    succeeded((yield shell("grep -rn harvest_kg orchard README.md && ! grep -rn get_yield_kg orchard README.md")))
    yield edit(
        "orchard/base.py",
        "    def harvest_kg(self, years):\n",
        '    def harvest_kg(self, years):\n        """What it bears in so many years."""\n',
    )
    says(succeeded((yield shell("python3 -m unittest"))), "OK")
    yield "It is called harvest_kg everywhere."


def _renamed(done: Done) -> Iterator[str]:
    yield from passes(done, "python3", "-m", "unittest")
    whole = "".join(done.text(path) for path in _CHANGED)
    yield from same("old names", len(re.findall("get_yield_kg", whole)), 0)
    yield from same("new names", len(re.findall("harvest_kg", whole)), 15)
    yield from touched(done, *_CHANGED)


REFACTOR = Job(
    "refactor over files",
    lambda folder: lay_out(folder, _ORCHARD),
    ("Rename get_yield_kg to harvest_kg everywhere, and document it.",),
    _refactor,
    _renamed,
)

JOBS = (FIX_TEST, USE_PYTEST, ADD_DEPENDENCY, REFACTOR)
