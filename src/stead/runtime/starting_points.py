"""The directives that Stead brings with a new home, and starting points for more.

Layer: runtime. The texts are in ``starting_points.md``, read once. Every token of a seed that is on is in every request
of who leaves it on, so what is on from the start is one short soul.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from stead.domain.directives import Directive, DirectiveId, DirectiveKind, Template

_HEAD = re.compile(r"^<!-- (seed|template) (\w+) (on|off) -->\n# (.+)\n\n", re.MULTILINE)
_PARTS = _HEAD.split(Path(__file__).with_suffix(".md").read_text("utf-8"))[1:]
_READ = tuple(
    (use, enabled == "on", Template(msgspec.convert(kind, DirectiveKind), title, text.strip()))
    for use, kind, enabled, title, text in zip(*[iter(_PARTS)] * 5, strict=True)
)

SEEDS = tuple(
    Directive(DirectiveId(f"d_{order + 1:016x}"), seed.kind, seed.title, seed.text, on, order, directory="", version=1)
    for order, (on, seed) in enumerate((on, text) for use, on, text in _READ if use == "seed")
)
"""What a new home is given, once. All but the soul are off: they are there to be read, changed and switched on."""

TEMPLATES = tuple(text for use, _, text in _READ if use == "template")
"""A dozen and more. Brackets are for the person to fill in."""
