"""What doctor asks the daemon about the person's settings: schedules, hosts, web search and MCP servers.

Layer: cli.
"""

from __future__ import annotations

import os

from stead.cli import figures
from stead.cli.checks import Check
from stead.cli.output import clean_line
from stead.client import Client, Json

_TEST_S = 75.0
_BAD_ENDS = ("failed", "refused", "lost")


def work_checks(client: Client) -> list[Check]:
    """Settings that can no longer do what they are there for."""
    return [*_schedules(client), _folders(client), _search(client), *_servers(client), _channels(client)]


def _schedules(client: Client) -> list[Check]:
    rows = list(client.items("/schedules"))
    found = {row["schedule"]["name"]: why for row in rows if row["on"] and (why := _trouble(row))}
    on = sum(row["on"] for row in rows)
    text = "; ".join(f"{name}: {why}" for name, why in found.items()) or f"{figures.counted(on, 'schedule')} on"
    fix = f"stead schedule history {next(iter(found), '')}; stead schedule change, or disable it"
    return [Check("schedules", "warn" if found else "ok", clean_line(text, 500), fix)]


def _trouble(row: Json) -> str:
    folder, last = row["schedule"]["job"].get("directory", ""), row["last"] or {}
    if folder and not os.path.isdir(folder):
        return f"its folder {folder!r} is gone"
    if not row["next_ms"]:
        return "no further time comes"
    end = last.get("end", "")
    return f"its last run: {end}" if end in _BAD_ENDS else ""


def _folders(client: Client) -> Check:
    gone = sorted({row["directory"] for row in client.items("/egress/hosts") if not os.path.isdir(row["directory"])})
    text = (
        f"hosts are allowed in folders that are gone: {', '.join(map(repr, gone))}" if gone else "each folder is there"
    )
    return Check("allowed hosts", "warn" if gone else "ok", text, "stead egress remove HOST --dir DIR")


def _search(client: Client) -> Check:
    setup = client.get("/web-search")
    if not setup["engine"]:
        return Check("web search", "ok", "none is set up; it is optional")
    if setup["key"] == "missing":
        return Check("web search", "fail", f"no key for {setup['engine']}", f"stead search set {setup['engine']}")
    tried = client.post("/web-search/test", timeout_s=_TEST_S)
    return Check("web search", "ok" if tried["ok"] else "fail", clean_line(tried["text"]), "stead search test")


def _servers(client: Client) -> list[Check]:
    """Each MCP server of which tools may be called, asked once."""
    checks = []
    for row in client.items("/mcp"):
        name = row["server"]["name"]
        if row["approved"] or row["error"]:
            tried = client.post(f"/mcp/{name}/test", timeout_s=_TEST_S)
            fix = f"stead mcp test {name}; stead mcp login {name}, or stead mcp remove {name}"
            checks.append(Check(f"MCP {name}", "ok" if tried["ok"] else "fail", clean_line(tried["text"]), fix))
    return checks


def _channels(client: Client) -> Check:
    rows = list(client.items("/channels"))
    found = {row["channel"]["name"]: why for row in rows if (why := row["error"] if row["on"] else row["why"])}
    text = "; ".join(f"{name}: {why}" for name, why in found.items()) or figures.counted(len(rows), "channel")
    fix = f"stead channel test {next(iter(found), '')}"
    return Check("channels", "warn" if found else "ok", clean_line(text, 500), fix)
