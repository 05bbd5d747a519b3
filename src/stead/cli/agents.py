"""Subagents as people see them: the tree below a session.

Layer: cli.
"""

from __future__ import annotations

from collections.abc import Sequence

from stead.cli.output import Output
from stead.cli.spending import cost_line
from stead.cli.templates import fill
from stead.client import Client, Json


def tree_of(client: Client, row: Json) -> list[Json]:
    """The rows of all subagents below a session, each after its parent."""
    return list(client.items(f"/sessions/{row['id']}/agents"))


def print_tree(out: Output, id: str, rows: Sequence[Json], depth: int = 1) -> None:
    """The subagents below a session, each with how it stands and what it has used; ``stead stop ID`` stops a branch."""
    if rows and depth == 1:
        out.line("subagents")
    for row in rows:
        if row["parent"] == id:
            said = fill("{id}  {status:10}  {title:80}", row)
            out.line(f"{'  ' * depth}{said}  {cost_line(row)}")
            print_tree(out, row["id"], rows, depth + 1)
