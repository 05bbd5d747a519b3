"""What doctor looks at of memory: the embedder on this computer, and what the daemon says of the ways of finding.

Layer: cli.
"""

from __future__ import annotations

from stead.cli import figures
from stead.cli.checks import Check
from stead.cli.memory_reports import totals
from stead.cli.templates import fill
from stead.client import Client, Json
from stead.config import Home

_BY_WORDS = "memory is searched by names and words alone"


def embedder_check(home: Home) -> Check:
    """Whether texts can become vectors here, and what to install."""
    from stead.memory.embedding.embedder import missing_packages
    from stead.memory.embedding.wire import INSTALL

    chosen = _chosen(home)
    if chosen == "off":
        return Check("embedder", "ok", f"off, as config.toml says: {_BY_WORDS}")
    if chosen != "auto":
        return Check("embedder", "ok", f"{chosen} makes the vectors, and is sent what is remembered")
    if missing := missing_packages():
        return Check("embedder", "warn", f"missing: {', '.join(missing)}; {_BY_WORDS}", INSTALL)
    return Check("embedder", "ok", "installed; it starts when it is needed")


def memory_checks(home: Home, client: Client) -> list[Check]:
    """Whether the daemon finds what is remembered, and keeps its files up."""
    state = client.get("/memories/state")
    return [_recall(home, state), _files(state["files"])]


def _files(files: Json) -> Check:
    if not files["alive"]:
        return Check("memory files", "warn", files["reason"], "memory works on without them; stead memory state")
    count = len(files["notices"])
    if count:
        text = f"{files['folder']!r}, with {figures.counted(count, 'notice')}"
        return Check("memory files", "warn", text, "stead memory state")
    return Check("memory files", "ok", f"{files['folder']!r} is kept up")


def _recall(home: Home, state: Json) -> Check:
    dead = {leg["leg"]: leg["text"] for leg in state["legs"] if not leg["alive"]}
    meaning = dead.pop("meaning", "")
    if dead:
        return Check("recall", "fail", "; ".join(dict.fromkeys(dead.values())), "stead logs; stead down; stead up")
    sums = totals(state)
    held = fill("{memories:#memory/memories} and {episodes:#turn}", sums)
    if meaning and sums["findable"] and _chosen(home) != "off":
        return Check("recall", "warn", f"{held}; {_BY_WORDS}: {meaning}", "see the line embedder; stead memory state")
    by_meaning = fill("; {embedded:number} of {findable:number} found by meaning", sums)
    return Check("recall", "ok", held if meaning else held + by_meaning)


def _chosen(home: Home) -> str:
    """What config.toml says of the embedder; the check of the settings says if it is no good."""
    from stead.config import load_settings
    from stead.domain.errors import InvalidRequest

    try:
        return load_settings(home).embedder
    except (InvalidRequest, OSError):
        return "auto"
