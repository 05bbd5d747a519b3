"""``profile``: what work is started with again and again, under a name.

Layer: cli.
"""

from __future__ import annotations

from argparse import Namespace

from stead.cli.forms import YES, Act, Listing, Row, arg, family
from stead.cli.invocation import Invocation
from stead.cli.work_options import WORK, work_fields
from stead.client import Json


def _row(row: Json) -> Json:
    budget = row["budget"] or {}
    return {
        **row,
        **budget,
        "models": ", ".join(f"{one['provider']}/{one['model']}" for one in row["chain"]),
        "grants": ", ".join((*row["allow"], *row["hosts"], *row["secrets"])),
        "strictness": row["profile"] + (", on trial" if row["mode"] == "trial" else ""),
        "most": budget.get("usd_micros", ""),
    }


def _set(invocation: Invocation, arguments: Namespace) -> int:
    fields = work_fields(Namespace(**vars(arguments), title=""))
    del fields["title"]
    invocation.client.post("/profiles", {"name": arguments.name, **fields})
    return invocation.report({"id": arguments.name, **fields}, f"Use it with: stead run --as {arguments.name} GOAL")


_LIST = Listing(
    "/profiles",
    "NAME: {name} | STRICTNESS: {strictness} | MODELS: {models} | MOST: {most:money} | MAY USE: {grants:60}",
    "There is no named profile. Add one: stead profile add NAME",
    view=_row,
)
_NAME = arg("name NAME", "yours to choose: a small letter, then small letters, digits, dashes")
_OPTIONS = tuple(option for option in WORK if "--title" not in getattr(option, "words", ()))
_ROWS: dict[str, Row] = {
    "list": ("show your named profiles (the default)", (), _LIST),
    "add": ("add or change one; with --as, from another one", (_NAME, *_OPTIONS), _set),
    "remove": (
        "forget one; what was started with it goes on",
        (_NAME, YES),
        Act("DELETE /profiles/{name}", "{name} is forgotten.", confirm="{name} will be forgotten."),
    ),
}
COMMANDS = {"profile": family("profile", _ROWS, "list")}
