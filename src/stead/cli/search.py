"""``search``: which engine searches the web.

Layer: cli. A key comes from standard input or a hidden prompt, never from the command line, where every process of the
machine could read it.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from stead.cli.invocation import Command, CommandError, Invocation, add_yes_option
from stead.cli.output import clean_line
from stead.cli.providers import read_key, report_check

_CHECK_TIMEOUT_S = 30.0
_KEYED = ("brave", "tavily")


def _configure(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", parser_class=type(parser))
    actions.add_parser("show", help="show which engine is asked (the default)")
    choose = actions.add_parser("set", help="choose the engine; its key is read from the terminal or standard input")
    choose.add_argument("engine", metavar="ENGINE", choices=("searxng", *_KEYED), help="searxng, brave or tavily")
    choose.add_argument("--url", default="", metavar="U", help="of the SearXNG instance; else the engine's own")
    actions.add_parser("test", help="send one real search")
    add_yes_option(actions.add_parser("remove", help="search the web no more, and forget the key"))


def _search(invocation: Invocation, arguments: Namespace) -> int:
    match arguments.action or "show":
        case "show":
            return _show(invocation)
        case "set":
            return _set(invocation, arguments.engine, arguments.url)
        case "test":
            return _test(invocation)
        case _:
            invocation.confirm("remove", "The search engine and its key are forgotten.", yes=arguments.yes)
            answer = invocation.client.delete("/web-search")
            return invocation.report(answer, "The web is no longer searched; the engine's key is forgotten.")


def _show(invocation: Invocation) -> int:
    setup = invocation.client.get("/web-search")
    if not setup["engine"]:
        said = "No search engine is set up. Next: stead search set searxng --url http://HOST:PORT"
        return invocation.report(setup, said)
    key = "" if setup["key"] == "none" else f", key: {setup['key']}"
    return invocation.report(setup, clean_line(f"{setup['engine']} at {setup['url']}{key}", 2000))


def _set(invocation: Invocation, engine: str, url: str) -> int:
    if engine not in _KEYED and not url:
        command = f"stead search set {engine} --url http://HOST:PORT"
        raise CommandError(f"{engine} needs the address of an instance", command)
    key = read_key(engine, f"stead search set {engine}") if engine in _KEYED else ""
    answer = invocation.client.post("/web-search", {"engine": engine, "url": url, "key": key})
    return invocation.report(answer, f"{engine} searches the web now. Next: stead search test")


def _test(invocation: Invocation) -> int:
    return report_check(invocation, invocation.client.post("/web-search/test", timeout_s=_CHECK_TIMEOUT_S))


COMMANDS = {"search": Command(_configure, _search)}
