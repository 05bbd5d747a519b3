"""Memory in and out: everything in one file, and files of other agents taken in.

Layer: cli.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from stead.cli import figures
from stead.cli.invocation import FAILED, OK, CommandError, Invocation
from stead.cli.memory_lines import place_of, scope_fields
from stead.cli.output import clean, clean_line
from stead.client import ApiError

_LIMIT_BYTES = 10_000_000
_LONG_S = 600.0


def _export(invocation: Invocation, arguments: Namespace) -> int:
    out, destination = invocation.out, arguments.file
    text = invocation.client.text("/memories/export", format=arguments.format, place=place_of(arguments))
    if not destination:
        # An export is read by programs and, byte for byte, by Stead itself; a terminal gets what it can bear.
        out.write(clean(text) if invocation.interactive or arguments.format == "markdown" else text)
        return OK
    try:
        descriptor = os.open(destination, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise CommandError(f"there is a file {destination!r} already", "give a new one") from error
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    if out.as_json:
        out.json({"file": destination, "format": arguments.format})
    else:
        size = figures.size(len(text.encode()))
        out.line(f"Written to {clean_line(destination)}, {size}. It is in the clear: keep it where only you read it.")
    return OK


def _import(invocation: Invocation, arguments: Namespace) -> int:
    scope, out = scope_fields(arguments), invocation.out
    texts = [(Path(name).name, _read(name)) for name in arguments.files]
    refused = 0
    for name, text in texts:
        try:
            answer = invocation.client.post(
                "/memories/import", {"name": name, "text": text, **scope}, timeout_s=_LONG_S
            )
        except ApiError as error:
            if error.status != 400 or len(texts) == 1:
                raise
            refused += 1
            out.error(f"{name}: {error.message}", "", error.code)
            continue
        if out.as_json:
            out.json({"file": name, **answer})
        else:
            out.line(f"{clean_line(name)}: {clean_line(answer['text'], 600)}")
    return FAILED if refused else OK


def _read(name: str) -> str:
    with Path(name).open("rb") as file:
        content = file.read(_LIMIT_BYTES + 1)
    if len(content) > _LIMIT_BYTES:
        raise CommandError(f"{name!r} has more than {figures.size(_LIMIT_BYTES)}", "split it, and import the parts")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(f"{name!r} is not UTF-8 text", "give Markdown, or lines of JSON") from error


RUN: dict[str, Callable[[Invocation, Namespace], int]] = {"export": _export, "import": _import}
