"""Changing a text in the person's editor: the arguments of a call before it runs (or one by one), a directive.

Layer: cli. What was written by a model is shown revealed, so that nothing in it hides while it is changed.
"""

from __future__ import annotations

import json
import os

from stead.cli.invocation import CommandError, Invocation
from stead.client import Json
from stead.domain.shown import reveal

_LIMIT_BYTES = 1_000_000


def edited(invocation: Invocation, arguments: str) -> str:
    """The arguments as the person wants them, a JSON object; the same text when they changed nothing.

    Args:
        invocation: whose terminal it is.
        arguments: as they are, a JSON object.

    Raises:
        CommandError: the editor failed, or what it left is no JSON object.
    """
    values = parse(arguments)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    if editor.strip():
        text = json.dumps(values, indent=2, ensure_ascii=True) + "\n"
        changed = parse(_in_editor(editor, "arguments.json", text))
    else:
        changed = _line_by_line(invocation, values)
    return arguments if changed == values else json.dumps(changed, ensure_ascii=False)


def written(name: str, text: str) -> str:
    """A text as the person leaves it in their editor.

    Args:
        name: of the file that the editor shows; its ending tells the editor what it is.
        text: as it is.

    Raises:
        CommandError: there is no editor, or it failed.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    if not editor.strip():
        raise CommandError("there is no editor to write in", "set EDITOR, or give the text with --text or --file")
    return _in_editor(editor, name, text)


def parse(text: str) -> Json:
    """A JSON object.

    Raises:
        CommandError: it is none.
    """
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"that is no JSON: {error}", 'give a JSON object, like {"path": "notes.txt"}') from error
    if not isinstance(values, dict):
        raise CommandError("the arguments are a JSON object", 'give one, like {"path": "notes.txt"}')
    return values


def _in_editor(editor: str, name: str, text: str) -> str:
    import shlex
    import subprocess
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="stead-") as folder:
        file = Path(folder) / name
        file.write_text(text, "utf-8")
        try:
            code = subprocess.run([*shlex.split(editor), str(file)], check=False).returncode
        except (OSError, ValueError) as error:
            raise CommandError(
                f"the editor {editor!r} cannot be run: {error}", "set EDITOR to one that is there"
            ) from error
        if code:
            raise CommandError(f"the editor {editor!r} ended with {code}; nothing was changed", "try again")
        with file.open("rb") as changed:
            content = changed.read(_LIMIT_BYTES + 1)
    if len(content) > _LIMIT_BYTES:
        raise CommandError("what was written has more than 1 MB", "put long material into a file of the folder")
    return content.decode("utf-8", "replace")


def _line_by_line(invocation: Invocation, values: Json) -> Json:
    out = invocation.out
    out.line("Enter keeps what there is. For long texts set EDITOR and try again.")
    changed = dict(values)
    for name, value in values.items():
        is_text = isinstance(value, str)
        if is_text and "\n" in value:
            out.line(f"  {reveal(name)}: {value.count(chr(10)) + 1} lines, kept")
            continue
        now = value if is_text else json.dumps(value, ensure_ascii=False)
        typed = input(f"  {reveal(name)} [{reveal(now)}]: ").strip()
        if typed:
            changed[name] = typed if is_text else parse(f'{{"value": {typed}}}')["value"]
    return changed
