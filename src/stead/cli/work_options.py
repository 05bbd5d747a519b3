"""Options of everything that gives work: the folder, and what may be used, reached and spent in it.

Layer: cli. What can be seen to be wrong is refused before anything starts; the daemon is the authority on the rest.
"""

from __future__ import annotations

import os
from argparse import Namespace

from stead.cli.finding import named_one
from stead.cli.forms import arg
from stead.cli.invocation import CommandError, Invocation
from stead.cli.rules_history import note_tried
from stead.cli.spending import BUDGET, DEFAULT_BUDGET, LIMITS, budget_of, limits_of
from stead.client import Client, Json

STRICTNESS = (
    "strictness; work asks about what leaves the sandbox, and lets the rest be done there; ask also asks before it "
    "writes and runs; readonly changes nothing"
)


def find_profile(client: Client, name: str) -> Json:
    """The named profile that is meant."""
    rows = {row["name"]: row for row in client.items("/profiles")}
    return named_one(rows, name, f"there is no profile {name!r}", "stead profile add")


# One value each: an option that took several would swallow the goal after it.
WORK = (
    arg("--title T", "a name for lists"),
    arg("--as NAME", "a named profile: what no other option says is as it says", find_profile, dest="named"),
    *BUDGET,
    *LIMITS,
    arg("--allow TOOL...", "a tool to use without asking"),
    arg("--tools TOOL...", "offer the model this one, and no other that is not named"),
    arg("--model PROVIDER/MODEL...", "the model to use; again for its fallbacks"),
    arg("--host HOST...", "a host that its commands may reach without asking"),
    arg("--secret NAME...", "a secret that the model may use by name"),
    arg("--profile PROFILE", STRICTNESS, choices=("work", "ask", "readonly"), default=""),
    arg("--trial", "keep all changes out of the folder until you have reviewed them"),
)
"""What an objective and a session take alike."""
WAIT = arg("--wait", "without a terminal: wait for answers given elsewhere")
VERBOSE = arg("-v --verbose", "also show what was recalled from memory")


def work_fields(arguments: Namespace, default: Json = DEFAULT_BUDGET) -> Json:
    """The fields of a request that these options fill in; what is its default is left out.

    Args:
        arguments: as they were parsed.
        default: the budget of which a figure that is not given is taken.

    Raises:
        CommandError: a model is none.
    """
    named = arguments.named or {}
    fields: Json = {
        "title": arguments.title,
        "profile": strictness_of(arguments),
        "tools": split(arguments.tools) or named.get("tools", []),
        "allow": split(arguments.allow) or named.get("allow", []),
        "chain": [parse_model(name) for name in arguments.model] or named.get("chain", []),
    }
    if mode := "trial" if arguments.trial else named.get("mode", ""):
        fields["mode"] = mode
    for name, values in (("hosts", arguments.host), ("secrets", arguments.secret)):
        if given := split(values) or named.get(name, []):
            fields[name] = given
    limits = limits_of(arguments).get("limits", {})
    if named:
        fields["limits"] = {**named["limits"], **limits}
    elif limits:
        fields["limits"] = limits
    budget = named.get("budget")
    return fields | ({"budget": budget} if budget else {}) | budget_of(arguments, budget or default)


def strictness_of(arguments: Namespace) -> str:
    """The strictness that the options ask for."""
    named: Json = arguments.named or {}
    return arguments.profile or named.get("profile") or "work"


def note_unseen_keys(invocation: Invocation) -> None:
    """Say where the rehearsal model works although a key is set here: the daemon was started without it."""
    if not any(name.endswith("_API_KEY") for name in os.environ) or not invocation.client.get("/status")["rehearsal"]:
        return
    known = {row["key_env"] for row in invocation.client.items("/providers/presets")}
    if here := sorted(name for name in known & os.environ.keys() if os.environ[name]):
        said = f"note: {here[0]} is set here, but the daemon was started without it, so the rehearsal model works."
        invocation.out.note(f"{said} Start it with the key: stead down && stead up")


def split(values: list[str]) -> list[str]:
    """The names in values that may hold several, separated by commas."""
    return [name for value in values for name in value.split(",") if name]


def parse_model(text: str) -> Json:
    """``provider/model`` as a reference; the model's own name may have slashes in it."""
    provider, separator, model = text.partition("/")
    if not (provider and separator and model):
        raise CommandError(f"{text!r} is not PROVIDER/MODEL", "stead providers list")
    return {"provider": provider, "model": model}


def folder_of(text: str, how: str) -> str:
    """The real path of the folder that is meant.

    Args:
        text: as it was typed.
        how: to give another, such as "--dir DIR".

    Raises:
        CommandError: it is none that can be read.
    """
    path = os.path.realpath(os.path.expanduser(text))
    if not os.path.exists(path):
        raise CommandError(f"there is no directory {text!r}", f"give one that exists: {how}")
    if not os.path.isdir(path):
        raise CommandError(f"{text!r} is not a directory", f"give the folder to work in: {how}")
    if not os.access(path, os.R_OK | os.X_OK):
        raise CommandError(f"you may not read the directory {text!r}", "choose another, or change its permissions")
    return path


def note_history(invocation: Invocation, arguments: Namespace) -> None:
    """Before a chosen profile or a grant takes effect: say what it would have changed in the home's last calls."""
    named: Json = arguments.named or {}
    change: Json = {"grants": [{"tool": tool} for tool in split(arguments.allow) or named.get("allow", [])]}
    change |= {"profile": strictness} if (strictness := strictness_of(arguments)) != "work" else {}
    if change["grants"] or "profile" in change:
        note_tried(invocation, change)
