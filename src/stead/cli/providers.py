"""``providers``: which models there are, how they are reached, and which one is used.

Layer: cli.
"""

from __future__ import annotations

from argparse import Namespace

from stead.cli.forms import YES, Act, Listing, OneOf, Row, arg, family
from stead.cli.invocation import FAILED, OK, CommandError, Invocation
from stead.cli.templates import fill
from stead.cli.text_input import read_hidden
from stead.cli.work_options import parse_model
from stead.client import Client, Json

_CHECK_TIMEOUT_S = 30.0
_KEY_LIMIT = 16_384


def _named(_: Client, name: str) -> str:
    """A provider's name, before it becomes part of a path."""
    if not name.isascii() or not name.replace("-", "").isalnum():
        raise CommandError(f"{name!r} is no provider's name", "stead providers list")
    return name


def _list(invocation: Invocation, arguments: Namespace) -> int:
    rows = list(invocation.client.items("/providers"))
    chain = invocation.client.get("/chain")["chain"]
    if invocation.as_json:
        return invocation.report({"providers": rows, "chain": chain})
    _LIST.show(invocation, rows, arguments)
    names = [f"{ref['provider']}/{ref['model']}" for ref in chain]
    said = "\nin use: {names:then|whatever is found}   change it: stead providers use NAME/MODEL"
    invocation.out.line(fill(said, {"names": names}))
    return OK


def _provider(arguments: Namespace) -> Json:
    key = f"env:{arguments.key_env}" if arguments.key_env else "vault" if arguments.key_vault else "none"
    body: Json = {"name": arguments.name, "preset": arguments.preset, "base_url": arguments.url}
    return body | {"model": arguments.model, "key": key, "clearance": arguments.clearance}


def read_key(name: str, command: str) -> str:
    """The key of a provider or a search engine, from a hidden prompt or standard input.

    Raises:
        CommandError: there is none, or it is no key.
    """
    key = read_hidden(f"key of {name}", command, _KEY_LIMIT).strip()
    if not key.isascii() or not key.isprintable():
        raise CommandError("what was given does not look like a key", "give the key alone, on one line")
    return key


def _test(invocation: Invocation, arguments: Namespace) -> int:
    if invocation.interactive:
        invocation.out.note(f"asking {arguments.name}, at most 15 s")
    return report_check(invocation, f"/providers/{arguments.name}/test")


def report_check(invocation: Invocation, path: str) -> int:
    """Have a provider or a search engine tried, and say whether it answered, and how; gives the exit code."""
    check, style = invocation.client.post(path, timeout_s=_CHECK_TIMEOUT_S), invocation.out.style
    if not check["ok"]:
        invocation.report(check, f"{style('failed', 'red')}: {fill('{text:text}[; {fix:text}]', {'fix': '', **check})}")
        return FAILED
    said = f"{style('ok', 'green')}: {fill('{text:300}, {duration_ms:duration}', check)}"
    models = fill("[its models: {models:2000}]", {"models": [], **check})
    return invocation.report(check, *filter(None, [said, models]))


def _chain(arguments: Namespace) -> Json:
    return {"chain": [parse_model(model) for model in arguments.models]}


_LIST = Listing(
    "/providers",
    "NAME: {name} | PRESET: {preset} | MODEL: {model} | KEY: {key} | CLEARANCE: {clearance}"
    " | ORIGIN: {found?found:configured} | URL: {base_url}",
    "None is configured and none was found.",
)
_PRESETS = Listing(
    "/providers/presets",
    "NAME: {name} | TITLE: {title} | BASE URL: {base_url} | MODEL: {model} | KEY ENV: {key_env}",
    "There are no presets.",
    more="add one: stead providers add NAME --preset PRESET --key-env VAR",
)
_ADD = Act("POST /providers", "{name} is configured. Next: stead providers {key_vault?set-key:test} {name}", _provider)
_SET_KEY = Act(
    "POST /providers/{name}/key",
    "The key of {name} is in the vault. Next: stead providers test {name}",
    lambda given: {"key": read_key(given.name, f"stead providers set-key {given.name}")},
)
_FORGOTTEN = "{name} and its key are forgotten."
_REMOVE = Act("DELETE /providers/{name}", _FORGOTTEN, confirm=_FORGOTTEN)
_USE = Act("POST /chain", "New objectives use {models:then}.", _chain)
_KEY = OneOf(
    arg("--key-env VAR", "the environment variable that has the key"),
    arg("--key-vault", "the key is kept encrypted; give it with set-key"),
)
_PROVIDER = (
    arg("name NAME", "yours to choose: small letters, digits, dashes"),
    arg("--preset P", "see: stead providers presets", required=True),
    arg("--model M", "else the preset's"),
    arg("--url U", "else the preset's"),
    arg(
        "--clearance CLEARANCE",
        "public: it is sent nothing of a session that has read your files",
        choices=("private", "public"),
        default="private",
    ),
    _KEY,
)
_NAME = arg("name NAME", find=_named)
_MODELS = arg("models NAME/MODEL...")
_ROWS: dict[str, Row] = {
    "list": ("show what is configured and what was found (the default)", (), _list),
    "presets": ("show the known vendors, their addresses and models", (), _PRESETS),
    "add": ("add or change a provider", _PROVIDER, _ADD),
    "set-key": ("put a provider's key into the vault", (_NAME,), _SET_KEY),
    "remove": ("forget a provider and its key", (_NAME, YES), _REMOVE),
    "test": ("send one real, tiny request", (_NAME,), _test),
    "use": ("choose the default model, then its fallbacks", (_MODELS,), _USE),
}
COMMANDS = {"providers": family("providers", _ROWS, "list")}
