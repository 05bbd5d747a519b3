"""Write docs/generated from the code: tools, events, commands, settings, the command line.

`make docs` runs it. `tests/test_docs.py` fails when what is on disk is not what this would write.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec

import stead.daemon  # noqa: F401 - the composition root names every tool there is
from stead.cli.catalogue import GROUPS
from stead.cli.commands import load
from stead.cli.parsing import command_parser
from stead.config import Settings
from stead.domain.commands import Command
from stead.domain.events import VERSIONS, Body
from stead.domain.tools import ToolSpec
from stead.guardian.shell_rules import RULES
from stead.tools.tool import StructTool

FOLDER = Path(__file__).parents[1] / "docs" / "generated"
HEAD = "<!-- Written by `make docs` from the code. Do not edit. -->\n\n"


def pages() -> dict[str, str]:
    """Every generated page: file name and text."""
    return {
        "tools.md": HEAD + tools_page(),
        "events.md": HEAD + structs_page("Events", _EVENTS, get_args(Body)),
        "commands.md": HEAD + structs_page("Commands", _COMMANDS, get_args(Command)),
        "settings.md": HEAD + settings_page(),
        "command-line.md": HEAD + command_line_page(),
        "shell-rules.md": HEAD + shell_rules_page(),
    }


_EVENTS = (
    "Every fact that the journal can hold. An event never changes its meaning; a changed one gets a new version.\n"
    "Times are milliseconds since 1970 (UTC), money is millionths of a US dollar."
)
_COMMANDS = (
    "Every request that a door can make of Stead. Each comes with an idempotency key: the same key and the same\n"
    "command again gives the first answer and changes nothing."
)


def shell_rules_page() -> str:
    """What can be found in a command line, worst first."""
    rows = "\n".join(
        f"| `{name}` | {rule.risk} | {rule.text.format(thing='…')} | {'yes' if rule.grantable else 'no'} |"
        for name, rule in RULES.items()
    )
    return (
        "# Rules for commands\n\n"
        "A command line is as risky as the worst that is found in it. Low runs unasked; medium is asked once a\n"
        "session; high each time; critical each time and never for good. The last column: whether such a command\n"
        "may be allowed from now on, as exactly the command that was understood.\n\n"
        f"| rule | risk | what the person reads | for good |\n|---|---|---|---|\n{rows}\n"
    )


def tool_specs() -> list[ToolSpec]:
    """What every tool says about itself, by name. A tool's word is constant, so none of its ports is needed for it."""
    nothing: Any = None
    found = [
        kind(*[nothing for _ in inspect.signature(kind).parameters]).spec
        for kind in _leaves(StructTool)
        if kind.__module__.startswith("stead.")
    ]
    return sorted(found, key=lambda spec: spec.name)


def _leaves(kind: Any) -> Iterator[Any]:
    for below in kind.__subclasses__():
        yield from _leaves(below)
        if not inspect.isabstract(below):
            yield below


def tools_page() -> str:
    """What a model can ask for, with what the policy is derived from."""
    parts = ["# Tools\n\nWhat a model can ask for. The policy follows from each tool's declaration alone.\n"]
    for spec in tool_specs():
        declared = spec.declaration
        parts.append(f"## `{spec.name}`\n\n{spec.description}\n")
        rows = [(f"`{name}`", _schema_type(schema)) for name, schema in _properties(spec)]
        parts.append(_table(("argument", "type"), rows))
        told = [
            ("effect", declared.effect),
            ("arguments that carry authority", ", ".join(f"`{name}`" for name in declared.authority_args) or "none"),
            ("arguments that name paths", ", ".join(f"`{name}`" for name in declared.path_args) or "none"),
            ("output", f"{declared.output_trust}, {declared.sensitivity}"),
            ("may be run again after a crash", "yes" if declared.idempotent else "no"),
        ]
        parts.append(_table(("declaration", ""), told))
    return "\n".join(parts)


def _properties(spec: ToolSpec) -> list[tuple[str, Mapping[str, Any]]]:
    properties = spec.parameters["properties"]
    required = spec.parameters.get("required", [])
    assert isinstance(properties, dict)
    assert isinstance(required, list)
    return [(name + ("" if name in required else "?"), schema) for name, schema in properties.items()]


def _schema_type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_schema_type(schema['items'])}"
    if "properties" in schema:
        return "object with " + ", ".join(f"`{name}`" for name in schema["properties"])
    return str(schema.get("type", "any"))


def structs_page(title: str, lead: str, kinds: tuple[type[msgspec.Struct], ...]) -> str:
    """A page of tagged structs with their fields."""
    parts = [f"# {title}\n\n{lead}\n"]
    for kind in kinds:
        tag = str(kind.__struct_config__.tag)
        version = VERSIONS.get(tag, 1)
        heading = f"## `{tag}`" + (f" (version {version})" if version > 1 else "")
        parts.append(f"{heading}\n\n{_struct(kind)}")
    parts.append("## What they are made of\n")
    for kind in sorted(_made_of(kinds) - set(kinds), key=lambda kind: kind.__name__):
        choices = " or ".join(f"`{choice}`" for choice in kind) + "\n" if issubclass(kind, Enum) else ""
        summary = _described(kind)[0] + "\n\n" + choices if issubclass(kind, Enum) else _struct(kind)
        parts.append(f"### `{kind.__name__}`\n\n{summary}")
    return "\n".join(parts)


def _shown_types(kind: type[msgspec.Struct]) -> dict[str, str]:
    """The types of a struct's own fields as they are written, without what bounds them."""
    written = {name: str(hint) for name, hint in kind.__annotations__.items()}
    bare = {name: hint for name, hint in get_type_hints(kind).items() if name in written}
    whole = get_type_hints(kind, include_extras=True)
    return {name: written[name] if bare[name] == whole[name] else _plain(bare[name]) for name in written}


def _plain(hint: Any) -> str:
    if get_origin(hint) is Union:
        return " | ".join(map(_plain, get_args(hint)))
    return hint.__name__ if isinstance(hint, type) else re.sub(r"\b(?:\w+\.)+", "", str(hint))


def _struct(kind: type[msgspec.Struct]) -> str:
    """What a struct is for, and its fields; a question mark stands for "has a default"."""
    summary, said = _described(kind)
    required = {field.name for field in msgspec.structs.fields(kind) if field.required}
    rows = [
        (f"`{name}`" + ("" if name in required else "?"), f"`{hint}`", said.get(name, ""))
        for name, hint in _shown_types(kind).items()
    ]
    return f"{summary}\n\n" + (_table(("field", "type", ""), rows) if rows else "No fields.\n")


def _made_of(hints: Iterable[Any]) -> set[Any]:
    """Every struct and enumeration that occurs in these types, however deep."""
    found: set[Any] = set()
    todo = list(hints)
    while todo:
        hint = todo.pop()
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct | Enum) and hint not in found:
            found.add(hint)
            todo += get_type_hints(hint).values() if issubclass(hint, msgspec.Struct) else ()
        todo += get_args(hint)
    return found


def settings_page() -> str:
    """What can be set before anything else is read."""
    _, said = _described(Settings)
    rows = [
        (f"`{name}`", f"`{default!r}`".replace("'", '"'), said.get(name, ""))
        for name, default in Settings._field_defaults.items()
        if name != "unknown"
    ]
    return (
        "# Settings\n\nThe few that are needed before anything else can be read, in `config.toml` of the home\n"
        "(`$STEAD_HOME`, else `~/.stead`). Everything else is an event and is changed while Stead runs.\n\n"
        + _table(("setting", "default", ""), rows)
    )


def command_line_page() -> str:
    """The help of every command."""
    parts = ["# The command line\n"]
    for title, commands in GROUPS.items():
        parts.append(f"## {title[0].upper()}{title[1:]}\n")
        for name, summary in commands.items():
            parser = command_parser(name, summary)
            load(name).configure(parser)
            usage = re.sub(r"\s+", " ", parser.format_usage().removeprefix("usage: ")).strip()
            usage = usage.replace(" [-h]", "").replace(" [--home DIR] [--json] [--plain] [--debug]", "")
            parts.append(f"- `{usage}`: {summary}")
        parts.append("")
    parts.append("Every command also takes `--home DIR`, `--json`, `--plain`, `--debug` and `--help`.\n")
    return "\n".join(parts)


def _described(kind: type[Any]) -> tuple[str, dict[str, str]]:
    """(what a class is for, what each field is), from its docstring and the strings under its fields."""
    doc = inspect.cleandoc(kind.__doc__ or "")
    summary, _, arguments = doc.partition("Args:\n")
    said = {
        found["name"]: " ".join(found["text"].split())
        for found in re.finditer(r"^    (?P<name>\w+): (?P<text>.+(?:\n {8}.+)*)", arguments, re.MULTILINE)
    }
    body = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(body, ast.ClassDef)
    for field, under in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(under, ast.Expr) and isinstance(under.value, ast.Constant):
            said[ast.unparse(field.target)] = " ".join(str(under.value.value).split())
    return " ".join(summary.replace("``", "`").split()), {name: text.replace("``", "`") for name, text in said.items()}


def _table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def main() -> int:
    """Write the pages that changed, remove those that are no longer made."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    made = pages()
    for path in FOLDER.glob("*.md"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
