"""One line of the dashboard for each session, fitted into a window.

Layer: cli. Pure. Texts are cleaned, and cut by the columns that they take.
"""

from __future__ import annotations

from collections.abc import Sequence

from stead.cli import figures
from stead.cli.labels import model_name
from stead.cli.output import clean_line, cut_to, width_of
from stead.client import Json

KEYS = "Enter details  a answer  p pause  s stop  / filter  ? help  q quit"
HELP = """\
up, down     choose a session; what waits for you stands first
Enter        show it in full, with its last events
a            answer the questions that wait: all arguments, then y or n
p            pause it after its step, or let it go on
s            stop it at once; asks before
/            show only what has these words; Esc shows all again
?            this
Esc          back
q            quit

A subagent stands below what started it. What it used counts for that as well.

Esc back"""
_STATE, _MODEL, _TOKENS, _COST = 9, 14, 13, 12
_LEAST_TITLE = 16


def heading(width: int) -> str:
    """The names of the columns, in a window of so many columns."""
    return _row(width, "STATE", "TITLE", "MODEL", "TOKENS", "COST")


def line_of(depth: int, row: Json, width: int, asked: Sequence[str]) -> str:
    """A session's line, and one more for each question that it waits with.

    Args:
        depth: how many sessions stand above it.
        row: as ``/sessions/ID`` has it.
        width: columns of the window.
        asked: its questions in a line each.
    """
    state = "review" if row["review"]["waiting"] and not row["pending_approvals"] else clean_line(row["status"])
    title = "  " * min(depth, 8) + clean_line(row["title"], 400)
    model = model_name(row["chain"][0]) if row["chain"] else ""
    budget, used = row["budget"], row["tokens_used"]
    share = f", {100 * used // budget['tokens']} %" if isinstance(budget["tokens"], int) and budget["tokens"] else ""
    money = figures.money(row["usd_micros_used"], known=row["price_known"])
    cost = f"{money}/{figures.money(budget['usd_micros'])}" if isinstance(budget["usd_micros"], int) else money
    first = _row(width, state, title, model, figures.tokens(used) + share, cost)
    return "\n".join([first, *(cut_to(f"  asks: {clean_line(question)}", width) for question in asked)])


def _row(width: int, state: str, title: str, *cells: str) -> str:
    """Cells side by side; in a narrow window the model goes first, then the tokens, then the cost."""
    sizes = [_MODEL, _TOKENS, _COST]
    while sizes and width - _STATE - sum(size + 1 for size in sizes) < _LEAST_TITLE:
        sizes.pop(0)
    room = max(1, width - _STATE - sum(size + 1 for size in sizes) - 1)
    shown = [_fit(state, _STATE - 1), _fit(title, room)]
    shown += [_fit(cell, size) for cell, size in zip(cells[-len(sizes) :] if sizes else (), sizes, strict=True)]
    return cut_to(" ".join(shown), max(width, 1))


def _fit(text: str, width: int) -> str:
    text = cut_to(text, width)
    return text + " " * (width - width_of(text))
