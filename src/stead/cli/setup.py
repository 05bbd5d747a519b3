"""``setup`` and ``auth login``: the first start in one command, with a few questions or, under ``--yes``, with none.

Layer: cli. It does what the page's setup does, over the same API: the sandbox is looked at, a provider is connected,
its key verified by a real request, and the model chosen. What is there already stays, so it can be run again at any
time. A key comes by a hidden prompt, standard input or the name of a variable, never on the command line.
"""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import NamedTuple

from stead.cli.forms import OneOf, Row, arg, command, family
from stead.cli.invocation import FAILED, NEEDS_PERSON, OK, CommandError, Invocation
from stead.cli.output import clean_line
from stead.cli.providers import checked_key, read_key
from stead.cli.templates import fill
from stead.client import ApiError, Json

_CHECK_TIMEOUT_S = 60.0
_REHEARSAL = "rehearsal"


class Step(NamedTuple):
    """What became of one step: ``state`` is ok, skipped or failed."""

    name: str
    state: str
    text: str
    fix: str = ""


def _setup(invocation: Invocation, arguments: Namespace) -> int:
    """Each step is tried whatever became of the others; a step that failed makes the exit code 1."""
    asks = invocation.interactive and not arguments.yes
    if not asks and not arguments.yes:
        cause = "there is no terminal to ask at"
        raise CommandError(cause, "stead setup --yes, with --provider NAME and a key", exit_code=NEEDS_PERSON)
    steps = [_said(invocation, _sandbox(invocation))]
    named = arguments.provider or (_ask_provider(invocation) if asks else "")
    if named:
        steps.append(_said(invocation, _provider(invocation, arguments, named, asks=asks)))
        if steps[-1].state == "ok":
            steps.append(_said(invocation, _model(invocation, named, arguments.model)))
    else:
        steps.append(_said(invocation, _as_found(invocation)))
    folder = arguments.folder or (_ask("folder to work in first (Enter: later)") if asks else "")
    if folder:
        steps.append(_said(invocation, _folder(invocation, folder)))
    failed = [step for step in steps if step.state == "failed"]
    if invocation.as_json:
        invocation.out.json({"ok": not failed, "steps": [step._asdict() for step in steps]})
    elif not failed:
        following = f"stead session here, in {clean_line(folder)}" if folder else 'stead run "GOAL", in a folder'
        invocation.out.line(f"Stead is set up. Next: {following}; or its page: stead open")
    return FAILED if failed else OK


def _said(invocation: Invocation, step: Step) -> Step:
    """Show a step as soon as it is known."""
    if not invocation.as_json:
        style = {"ok": "green", "skipped": "yellow", "failed": "red"}[step.state]
        invocation.out.line(f"{invocation.out.style(f'{step.state:<8}', style)}{step.name}: {clean_line(step.text)}")
        if step.fix:
            invocation.out.line(f"        fix: {clean_line(step.fix)}")
    return step


def _sandbox(invocation: Invocation) -> Step:
    status = invocation.client.post("/status/check", timeout_s=_CHECK_TIMEOUT_S)
    part = next(part for part in status["parts"] if part["name"] == "sandbox")
    return Step("sandbox", "failed" if part["verdict"] == "fail" else "ok", part["text"], part["fix"])


def _as_found(invocation: Invocation) -> Step:
    """No provider was named: say what serves without one."""
    status = invocation.client.get("/status")
    part = next(part for part in status["parts"] if part["name"] == "model")
    state = {"ok": "ok", "warn": "skipped", "fail": "failed"}[part["verdict"]]
    return Step("provider", state, part["text"], part["fix"])


def _provider(invocation: Invocation, arguments: Namespace, name: str, *, asks: bool) -> Step:
    """Connect a provider and try it; what is configured already is only changed where an option says so."""
    client = invocation.client
    rows = {row["name"]: row for row in client.items("/providers")}
    presets = {row["name"]: row for row in client.items("/providers/presets")}
    row, preset = rows.get(name), arguments.preset or name
    if row is None and preset not in presets:
        return Step("provider", "failed", f"there is no preset {preset!r}", f"--preset, one of: {', '.join(presets)}")
    lacks_key = row["key"] == "missing" if row else bool(presets[preset]["key_env"])
    key = _key(arguments, name, ask=asks and lacks_key)
    try:
        if row is None:
            place = "vault" if key or lacks_key else "none"
            client.post("/providers", _body(arguments, name, preset, place))
        elif _differs(row, arguments) or (key and row["key"] not in ("vault", "missing")):
            place = "vault" if key or lacks_key else row["key"].removesuffix(" (not set)")
            client.post("/providers", _body(arguments, name, row["preset"], place, row))
        if key:
            client.post(f"/providers/{name}/key", {"key": key})
        tried = client.post(f"/providers/{name}/test", timeout_s=_CHECK_TIMEOUT_S)
    except ApiError as error:
        return Step("provider", "failed", error.message, f"stead auth login --provider {name}")
    if not tried["ok"]:
        return Step("provider", "failed", f"{name}: {tried['text']}", tried["fix"])
    return Step("provider", "ok", f"{name} answered: {tried['text']}")


def _body(arguments: Namespace, name: str, preset: str, place: str, row: Json | None = None) -> Json:
    """A provider as the options have it, for the rest as it is configured (``row``)."""
    old = row or {"base_url": "", "model": "", "clearance": "private", "account_of": ""}
    kept = {field: old[field] for field in ("clearance", "account_of")}
    address, model = arguments.url or old["base_url"], arguments.model or old["model"]
    return {"name": name, "preset": preset, "base_url": address, "model": model, "key": place, **kept}


def _differs(row: Json, arguments: Namespace) -> bool:
    """Whether an option says otherwise than what is configured."""
    return arguments.url not in ("", row["base_url"]) or arguments.model not in ("", row["model"])


def _key(arguments: Namespace, name: str, *, ask: bool) -> str:
    """The key that is given, "" for none; its words are in no error."""
    if arguments.api_key_env:
        value = os.environ.get(arguments.api_key_env, "")
        if not value:
            raise CommandError(f"the variable {arguments.api_key_env!r} is not set here", "export it first")
        return checked_key(value, name)
    if arguments.api_key_stdin or ask:
        return read_key(name, f"stead auth login --provider {name} --api-key-stdin")
    return ""


def _model(invocation: Invocation, name: str, model: str) -> Step:
    """Have new work use the provider's model, where it does not yet."""
    client = invocation.client
    row = next(row for row in client.items("/providers") if row["name"] == name)
    wanted = {"provider": name, "model": model or row["model"]}
    chain = client.get("/chain")["chain"]
    if chain[:1] == [wanted]:
        return Step("model", "ok", fill("new work uses {provider}/{model} already", wanted))
    try:
        client.post("/chain", {"chain": [wanted, *(ref for ref in chain if ref not in (wanted, *_rehearsal(chain)))]})
    except ApiError as error:
        return Step("model", "failed", error.message, f"stead providers use {name}/MODEL")
    return Step("model", "ok", fill("new work uses {provider}/{model}", wanted))


def _rehearsal(chain: list[Json]) -> list[Json]:
    return [ref for ref in chain if ref["provider"] == _REHEARSAL]


def _folder(invocation: Invocation, typed: str) -> Step:
    """Have a session ready in a folder; one that is there already is enough."""
    folder = os.path.realpath(Path(typed).expanduser())
    if not os.path.isdir(folder):
        return Step("folder", "failed", f"{folder!r} is no folder", f"mkdir -p {folder}")
    client = invocation.client
    for row in client.items("/sessions", directory=folder, limit=1):
        return Step("folder", "ok", f"{folder!r} has a session already: {row['id']}")
    try:
        answer = client.post("/sessions", {"directory": folder})
    except ApiError as error:
        return Step("folder", "failed", error.message, "give another folder")
    return Step("folder", "ok", f"{folder!r} has a session: {answer['session']}")


def _ask_provider(invocation: Invocation) -> str:
    """Which provider; an empty line skips it."""
    presets = list(invocation.client.items("/providers/presets"))
    found = [row["name"] for row in invocation.client.items("/providers") if row["preset"] != _REHEARSAL]
    invocation.out.line(f"providers: {', '.join(row['name'] for row in presets)}")
    if found:
        invocation.out.line(f"there are: {clean_line(', '.join(found))}")
    return _ask("provider (Enter: none, the built-in rehearsal model serves)")


def _ask(question: str) -> str:
    return input(f"{question}: ").strip()


def _login(invocation: Invocation, arguments: Namespace) -> int:
    """Give a provider its key, and try it; the chain of models stays."""
    if not arguments.provider:
        raise CommandError("no provider is named", "stead auth login --provider NAME")
    asks = invocation.interactive
    if not (asks or arguments.api_key_env or arguments.api_key_stdin):
        arguments.api_key_stdin = True
    step = _said(invocation, _provider(invocation, arguments, arguments.provider, asks=asks))
    if invocation.as_json:
        invocation.out.json({"ok": step.state == "ok", "steps": [step._asdict()]})
    return OK if step.state == "ok" else FAILED


_PROVIDER = (
    arg("--provider NAME", "of a preset (stead providers presets), or one that is configured"),
    OneOf(
        arg("--api-key-stdin", "read the key from standard input"),
        arg("--api-key-env VAR", "take the key from this variable, into the vault"),
    ),
    arg("--model M", "else the preset's"),
    arg("--preset P", "where the name is your own"),
    arg("--url U", "else the preset's"),
)
_AUTH: dict[str, Row] = {"login": ("give a provider its key, and try it", _PROVIDER, _login)}
COMMANDS = {
    "setup": command(
        _setup,
        arg("--yes", "ask nothing: what no option says stays as it is"),
        *_PROVIDER,
        arg("--folder DIR", "open a first session in this folder"),
    ),
    "auth": family("auth", _AUTH),
}
