"""``providers``: which models there are, how they are reached, and which one is used.

Layer: cli. A key comes from standard input or a hidden prompt, never from the command line, where every process of the
machine could read it.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from stead.cli import figures
from stead.cli.invocation import FAILED, OK, Command, CommandError, Invocation, add_yes_option
from stead.cli.output import clean, clean_line, stream_is_terminal
from stead.client import Json

_CHECK_TIMEOUT_S = 30.0
_KEY_LIMIT = 16_384


def _configure(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", parser_class=type(parser))
    actions.add_parser("list", help="show what is configured and what was found (the default)")
    actions.add_parser("presets", help="show the known vendors, their addresses and models")
    add = actions.add_parser("add", help="add or change a provider")
    add.add_argument("name", metavar="NAME", help="yours to choose: small letters, digits, dashes")
    add.add_argument("--preset", required=True, metavar="P", help="see: stead providers presets")
    add.add_argument("--model", default="", metavar="M", help="else the preset's")
    add.add_argument("--url", default="", metavar="U", help="else the preset's")
    add.add_argument(
        "--clearance",
        choices=("private", "public"),
        default="private",
        help="public: it is sent nothing of a session that has read your files (default: private)",
    )
    key = add.add_mutually_exclusive_group()
    key.add_argument("--key-env", default="", metavar="VAR", help="the environment variable that has the key")
    key.add_argument("--key-vault", action="store_true", help="the key is kept encrypted; give it with set-key")
    actions.add_parser("set-key", help="put a provider's key into the vault").add_argument("name", metavar="NAME")
    remove = actions.add_parser("remove", help="forget a provider and its key")
    remove.add_argument("name", metavar="NAME")
    add_yes_option(remove)
    actions.add_parser("test", help="send one real, tiny request").add_argument("name", metavar="NAME")
    use = actions.add_parser("use", help="choose the default model, then its fallbacks")
    use.add_argument("models", nargs="+", metavar="NAME/MODEL")


def _providers(invocation: Invocation, arguments: Namespace) -> int:
    match arguments.action or "list":
        case "list":
            return _list(invocation)
        case "presets":
            return _presets(invocation)
        case "add":
            return _add(invocation, arguments)
        case "set-key":
            return _set_key(invocation, arguments.name)
        case "remove":
            invocation.confirm("remove", f"{clean_line(arguments.name)} and its key are forgotten.", yes=arguments.yes)
            answer = invocation.client.delete(f"/providers/{_named(arguments.name)}")
            return invocation.report(answer, f"{clean_line(arguments.name)} and its key are forgotten.")
        case "test":
            return _test(invocation, arguments.name)
        case _:
            return _use(invocation, arguments.models)


def _list(invocation: Invocation) -> int:
    client, out = invocation.client, invocation.out
    rows = list(client.items("/providers"))
    chain = client.get("/chain")["chain"]
    if out.as_json:
        return invocation.report({"providers": rows, "chain": chain})
    cells = [
        [
            row["name"],
            row["preset"],
            row["model"],
            row["key"],
            row["clearance"],
            "found" if row["found"] else "configured",
            row["base_url"],
        ]
        for row in rows
    ]
    out.rows(
        rows,
        ["NAME", "PRESET", "MODEL", "KEY", "CLEARANCE", "ORIGIN", "URL"],
        cells,
        "None is configured and none was found.",
    )
    names = ", then ".join(clean_line(f"{ref['provider']}/{ref['model']}") for ref in chain)
    out.line(f"\nin use: {names or 'whatever is found'}   change it: stead providers use NAME/MODEL")
    return OK


def _presets(invocation: Invocation) -> int:
    rows = list(invocation.client.items("/providers/presets"))
    names = list(rows[0]) if rows else []
    cells = [[_cell(row[name]) for name in names] for row in rows]
    headings = [name.replace("_", " ").upper() for name in names]
    invocation.out.rows(rows, headings, cells, "There are no presets.")
    if cells and not invocation.as_json:
        invocation.out.line("\nadd one: stead providers add NAME --preset PRESET --key-env VAR")
    return OK


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _add(invocation: Invocation, arguments: Namespace) -> int:
    key = f"env:{arguments.key_env}" if arguments.key_env else "vault" if arguments.key_vault else "none"
    body: Json = {"name": arguments.name, "preset": arguments.preset, "base_url": arguments.url}
    body |= {"model": arguments.model, "key": key, "clearance": arguments.clearance}
    answer = invocation.client.post("/providers", body)
    name = clean_line(arguments.name)
    following = f"stead providers set-key {name}" if arguments.key_vault else f"stead providers test {name}"
    return invocation.report(answer, f"{name} is configured. Next: {following}")


def _set_key(invocation: Invocation, name: str) -> int:
    name = _named(name)
    answer = invocation.client.post(
        f"/providers/{name}/key", {"key": read_key(name, f"stead providers set-key {name}")}
    )
    return invocation.report(answer, f"The key of {name} is in the vault. Next: stead providers test {name}")


def read_key(name: str, command: str) -> str:
    """A key from a hidden prompt or standard input.

    Args:
        name: whose.
        command: that reads it, for what is said when there is none.

    Raises:
        CommandError: there is none, or it is no key.
    """
    if stream_is_terminal(sys.stdin):
        from getpass import getpass

        key = getpass(f"key of {name} (it is not shown): ")
    else:
        key = sys.stdin.read(_KEY_LIMIT + 1)
    key = key.strip()
    if not key:
        raise CommandError("no key was given", f"type it at the prompt, or: {command} < FILE")
    if len(key) > _KEY_LIMIT or not key.isascii() or not key.isprintable():
        raise CommandError("what was given does not look like a key", "give the key alone, on one line")
    return key


def _test(invocation: Invocation, name: str) -> int:
    name = _named(name)
    if invocation.interactive:
        invocation.out.note(f"asking {name}, at most 15 s")
    return report_check(invocation, invocation.client.post(f"/providers/{name}/test", timeout_s=_CHECK_TIMEOUT_S))


def report_check(invocation: Invocation, check: Json) -> int:
    """Say whether a provider or a search engine answered, and how; gives the exit code."""
    style = invocation.out.style
    if not check["ok"]:
        fix = f"; {check['fix']}" if check.get("fix") else ""
        invocation.report(check, f"{style('failed', 'red')}: {clean(check['text'] + fix)}")
        return FAILED
    said = f"{style('ok', 'green')}: {clean_line(check['text'], 300)}, {figures.duration(check['duration_ms'])}"
    models = check.get("models")
    return invocation.report(check, said, *([f"its models: {clean_line(', '.join(models), 2000)}"] if models else []))


def _use(invocation: Invocation, models: list[str]) -> int:
    from stead.cli.work_options import parse_model

    chain = [parse_model(model) for model in models]
    answer = invocation.client.post("/chain", {"chain": chain})
    fallbacks = f", then {', '.join(models[1:])}" if models[1:] else ""
    return invocation.report(answer, f"New objectives use {clean_line(models[0] + fallbacks)}.")


def _named(name: str) -> str:
    """A provider's name, before it becomes part of a path."""
    if not name or not name.isascii() or not name.replace("-", "").isalnum():
        raise CommandError(f"{name!r} is no provider's name", "stead providers list")
    return name


COMMANDS = {"providers": Command(_configure, _providers)}
