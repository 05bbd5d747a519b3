"""``apply`` and ``export config``: everything that a person has set, as one TOML file.

Layer: cli. What a file says is checked here for its form, so that each fault is reported with its line; the daemon says
what of it would change and whether it can be, and sets it by the commands that every door uses.
"""

from __future__ import annotations

import os
import re
import types
from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from stead.cli import figures
from stead.cli.forms import YES, arg, command, family
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.output import clean_line
from stead.cli.text_input import decoded, write_new
from stead.cli.toml_text import Lines, Path, written

if TYPE_CHECKING:
    from stead.client import Json

_MOST_BYTES = 5_000_000
_MOST_SHOWN = 50
_TIMEOUT_S = 120.0
_PART = r"(?:[A-Za-z0-9_-]+|\"[^\"\n]*\"|'[^'\n]*')"
_DEEP = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_PART}[ \t]*\.[ \t]*){{50}}")
"""A key of more parts than any setting has: the reader's time for one grows by the square of them."""
_HEAD = "Settings of Stead. Put them into force on this or another home with: stead apply FILE\n"
_COMMENTS = {
    "providers": "Where models are asked. A key is named by its place, never given: none, vault, env:NAME or\n"
    "keychain:SERVICE/NAME. One in the vault is put there by: stead providers set-key NAME",
    "models": "What is said of models: prices (millionths of a dollar for a million tokens), windows, headers.",
    "chain": "The default model, then its fallbacks.",
    "roles": "Models for a part of the work: fast, reading, review.",
    "caps": "What all sessions together may spend in a day and in a month (money in millionths of a dollar).",
    "search": "The engine that searches the web. Its key is put into the vault by: stead search set ENGINE",
    "bindings": "Where the values of secrets may go.",
    "hosts": "Hosts that the machines of a folder may reach.",
    "rules": "Standing rules: deny goes before ask, ask before allow.",
    "directives": "What models always read, in this order.",
    "mcp_servers": "MCP servers. Which of their tools may be called is approved by: stead mcp review NAME",
    "external_agents": "Coding agents that work is handed to.",
    "profiles": "Named profiles: stead run --as NAME",
    "schedules": "What runs by itself.",
}


# -- writing -----------------------------------------------------------------------------------------------------------


def _export(invocation: Invocation, arguments: Namespace) -> int:
    found = invocation.client.get("/settings")
    text = _text(found)
    if not arguments.out:
        if invocation.as_json:
            return invocation.report({"toml": text, **found})
        invocation.out.write(text)
        return OK
    write_new(arguments.out, text)
    return invocation.report({"file": arguments.out, "left_out": found["left_out"]}, f"Written to {arguments.out}.")


def _text(found: Json) -> str:
    import msgspec

    from stead.domain.settings_file import HomeSettings, plain

    document = plain(msgspec.convert(found["settings"], HomeSettings))
    lines = [_HEAD]
    if found["secrets"]:
        lines.append(f"Secrets, in no file: set these first with stead secret add NAME: {', '.join(found['secrets'])}")
    lines += [f"Not in this file: {text}" for text in found["left_out"]]
    head = "\n".join(f"# {clean_line(line)}".rstrip() for line in "\n".join(lines).splitlines())
    return f"{head}\n\n{written(document, _COMMENTS)}" if document else f"{head}\n"


# -- reading -----------------------------------------------------------------------------------------------------------


def _apply(invocation: Invocation, arguments: Namespace) -> int:
    text = _read(arguments.file)
    body = {"settings": _checked(text, arguments.file), "prune": arguments.prune}
    plan = invocation.client.post("/settings/plan", body, timeout_s=_TIMEOUT_S)
    if plan["problems"]:
        lines, all_ = Lines(text), plan["problems"]
        shown = [(lines.of((one["section"], max(0, one["index"]))), one["text"]) for one in all_[:_MOST_SHOWN]]
        raise _refused(arguments.file, shown, more=len(all_) - len(shown))
    changes = plan["changes"]
    if not invocation.as_json:
        _show(invocation, changes)
    applied = bool(changes) and not arguments.dry_run
    if applied:
        loss = f"{figures.counted(len(changes), 'setting')} will be as the file says, as listed"
        invocation.confirm("apply", loss, yes=arguments.yes)
        invocation.client.post("/settings", body, timeout_s=_TIMEOUT_S)
    said = "Nothing was changed." if changes else "The home is as the file says. Nothing to change."
    return invocation.report({"changes": changes, "applied": applied}, "Applied." if applied else said)


def _read(name: str) -> str:
    try:
        with open(os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{name!r} cannot be read: {error.strerror}", "stead export config --out FILE") from error
    return decoded(name, content, _MOST_BYTES)


def _checked(text: str, name: str) -> Json:
    """What a file says, if its form is right and no secret stands in it.

    Raises:
        CommandError: names each line that is wrong, and none of what stands there.
    """
    import tomllib

    from stead.domain.settings_file import HomeSettings
    from stead.screen.redaction import Redactor

    redactor = Redactor()
    if redactor.clean(text) != text:
        bare = [at for at, line in enumerate(text.split("\n"), start=1) if redactor.clean(line) != line] or [1]
        why = "this looks like a secret; take it out, change it if others saw it, and put it into the vault"
        raise _refused(
            name, [(at, why) for at in bare[:_MOST_SHOWN]], "stead secret add NAME, or stead providers set-key NAME"
        )
    if _DEEP.search(text):
        raise CommandError(f"{name!r} is nested too deeply", "nothing was changed")
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CommandError(f"{name!r} is not valid TOML: {_unquoted(str(error))}", "nothing was changed") from error
    except RecursionError as error:
        raise CommandError(f"{name!r} is nested too deeply", "nothing was changed") from error
    if faults := list(_faults(document, HomeSettings, ())):
        lines = Lines(text)
        shown = [(lines.of(path), why) for path, why in faults[:_MOST_SHOWN]]
        raise _refused(name, shown, more=len(faults) - len(shown))
    return document


def _refused(name: str, faults: list[tuple[int, str]], way: str = "", more: int = 0) -> CommandError:
    lines = [f"line {line}: {clean_line(why)}" for line, why in sorted(set(faults))]
    lines += [f"and {more} more"] if more else []
    cause = "\n  ".join([f"{name!r} was not applied, nothing was changed:", *lines])
    return CommandError(cause, way or "fix these lines, then give the same command")


def _unquoted(text: str) -> str:
    """Without what an error repeats of the file: a password may have been pasted there."""
    return re.sub(r"'[^\n]*'|\"[^\n]*\"", "…", text)


def _faults(value: Any, kind: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Where a value is not of a kind, each place once."""
    import msgspec

    kinds = _members(kind)
    if isinstance(value, dict) and (structs := [one for one in kinds if _is_struct(one)]):
        tags = [one for one in structs if one.__struct_config__.tag == value.get("type")]
        if len(structs) == 1 or tags:
            yield from _field_faults(value, (tags or structs)[0], path)
            return
        yield (*path, "type"), f"the type is one of {', '.join(str(one.__struct_config__.tag) for one in structs)}"
        return
    rows = next((get_args(one)[0] for one in kinds if get_origin(one) is tuple), None)
    if isinstance(value, list) and rows is not None:
        for at, one in enumerate(value):
            yield from _faults(one, rows, (*path, at))
        return
    try:
        msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        words = [word for one in kinds for word in _words(one)]
        said = _unquoted(str(error)).partition(" - at")[0]
        yield path, f"{path[-1] if path else 'it'}: " + (f"one of {', '.join(words)}" if words else said)


def _field_faults(value: dict[str, Any], kind: Any, path: Path) -> Iterator[tuple[Path, str]]:
    import msgspec

    fields = {one.name: one for one in msgspec.structs.fields(kind)}
    tag = kind.__struct_config__.tag_field
    for name in value:
        if name not in fields and name != tag:
            yield (*path, name), f"there is no setting {clean_line(name, 60)}; there are {', '.join(fields)}"
    for name, one in fields.items():
        if name in value:
            yield from _faults(value[name], one.type, (*path, name))
        elif one.required:
            yield path, f"{name} is missing"


def _is_struct(kind: Any) -> bool:
    """Whether a kind is a struct."""
    return hasattr(kind, "__struct_config__")


def _members(kind: Any) -> list[Any]:
    """The kinds that a kind is one of."""
    origin = get_origin(kind)
    if origin is Annotated:
        return _members(get_args(kind)[0])
    if origin in (Union, types.UnionType):
        return [inner for one in get_args(kind) for inner in _members(one)]
    return [kind]


def _words(kind: Any) -> list[str]:
    if get_origin(kind) is Literal:
        return [str(one) or '""' for one in get_args(kind)]
    return [str(one.value) for one in kind] if hasattr(kind, "__members__") else []


_SIGNS = {"added": "+", "changed": "~", "removed": "-"}
_STYLES = {"added": "green", "changed": "yellow", "removed": "red"}


def _differences(before: Json, after: Json) -> Iterator[tuple[str, str, str]]:
    """Fields that differ, those of tables one by one, with both values as JSON; "" for none."""
    import json

    for field in dict.fromkeys((*before, *after)):
        was, now = before.get(field), after.get(field)
        if isinstance(was, dict) and isinstance(now, dict):
            yield from ((f"{field}.{inner}", old, new) for inner, old, new in _differences(was, now))
        elif was != now:
            old, new = ("" if side is None else json.dumps(side, ensure_ascii=False) for side in (was, now))
            yield field, old, new


def _show(invocation: Invocation, changes: list[Json]) -> None:
    out = invocation.out
    for one in changes:
        name = clean_line(f"{one['section']} {one['name']}".rstrip(), 120)
        out.line(out.style(f"{_SIGNS[one['change']]} {name}", _STYLES[one["change"]]))
        for field, was, now in _differences(one["before"], one["after"]):
            arrow = f"{clean_line(was, 200) or 'the default'} → " if one["change"] == "changed" else ""
            out.line(f"    {field}: {arrow}{clean_line(now or ('the default' if arrow else was), 200)}")
    if weaker := [one for one in changes if one["weakens"]]:
        out.line("These weaken what protects you:")
        for one in weaker:
            out.line(f"  ! {clean_line(one['section'] + ' ' + one['name'], 120)}: {one['weakens']}")


COMMANDS = {
    "apply": command(
        _apply,
        arg("file FILE", "as stead export config writes it"),
        arg("--dry-run", "show what would change, and change nothing"),
        arg("--prune", "also remove what is set and not in the file"),
        YES,
    ),
    "export": family(
        "export",
        {
            "config": (
                "write everything that you have set as one TOML file, without values of secrets",
                (arg("--out FILE", "a new file (else standard output)"),),
                _export,
            )
        },
    ),
}
