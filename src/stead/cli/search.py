"""``search``: which engine searches the web.

Layer: cli.
"""

from __future__ import annotations

from argparse import Namespace

from stead.cli.forms import YES, Act, Row, arg, family
from stead.cli.invocation import CommandError, Invocation
from stead.cli.providers import read_key, report_check
from stead.cli.templates import fill
from stead.client import Json

_KEYED = ("brave", "tavily")


def _show(invocation: Invocation, arguments: Namespace) -> int:
    setup = invocation.client.get("/web-search")
    if not setup["engine"]:
        said = "No search engine is set up. Next: stead search set searxng --url http://HOST:PORT"
        return invocation.report(setup, said)
    key = "" if setup["key"] == "none" else setup["key"]
    return invocation.report(setup, fill("{engine} at {url:2000}[, key: {key}]", {**setup, "key": key}))


def _setup(arguments: Namespace) -> Json:
    engine = arguments.engine
    if engine not in _KEYED and not arguments.url:
        command = f"stead search set {engine} --url http://HOST:PORT"
        raise CommandError(f"{engine} needs the address of an instance", command)
    key = read_key(engine, f"stead search set {engine}") if engine in _KEYED else ""
    return {"engine": engine, "url": arguments.url, "key": key}


_SET = Act("POST /web-search", "{engine} searches the web now. Next: stead search test", _setup)
_REMOVE = Act(
    "DELETE /web-search",
    "The web is no longer searched; the engine's key is forgotten.",
    confirm="The search engine and its key are forgotten.",
)
_ENGINE = arg("engine ENGINE", choices=("searxng", *_KEYED))
_URL = arg("--url U", "of the SearXNG instance; else the engine's own")
_ROWS: dict[str, Row] = {
    "show": ("show which engine is asked (the default)", (), _show),
    "set": ("choose the engine; its key is read from the terminal or standard input", (_ENGINE, _URL), _SET),
    "test": ("send one real search", (), lambda invocation, _: report_check(invocation, "/web-search/test")),
    "remove": ("search the web no more, and forget the key", (YES,), _REMOVE),
}
COMMANDS = {"search": family("search", _ROWS, "show")}
