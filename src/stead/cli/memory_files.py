"""Memory in and out: everything in one file, and files of other agents taken in.

Layer: cli.
"""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from stead.cli.forms import Row, arg
from stead.cli.invocation import FAILED, OK, Invocation
from stead.cli.memory_lines import PLACE, SCOPE, place_of, scope_fields
from stead.cli.output import clean, clean_line
from stead.cli.templates import fill
from stead.cli.text_input import decoded, read_file, write_new
from stead.client import ApiError

_LIMIT_BYTES = 10_000_000
_LONG_S = 600.0
_EXPORTED = b'{"stead":"memory export'
"""How each part of an export begins."""
_PART = re.compile(b"(?m)^(?=" + re.escape(_EXPORTED) + b")")


def _export(invocation: Invocation, arguments: Namespace) -> int:
    destination = arguments.file
    text = invocation.client.text("/memories/export", format=arguments.format, place=place_of(arguments))
    if not destination:
        # An export is read by programs and, byte for byte, by Stead itself; a terminal gets what it can bear.
        invocation.out.write(clean(text) if invocation.interactive or arguments.format == "markdown" else text)
        return OK
    write_new(destination, text)
    wrote = {"file": destination, "format": arguments.format}
    said = "Written to {file}, {size:size}. It is in the clear: keep it where only you read it."
    return invocation.report(wrote, fill(said, {**wrote, "size": len(text.encode())}))


def _import(invocation: Invocation, arguments: Namespace) -> int:
    scope, out = scope_fields(arguments), invocation.out
    parts = [(Path(name).name, text) for name in arguments.files for text in _parts(name)]
    refused = 0
    for name, text in parts:
        try:
            body = {"name": name, "text": text, **scope}
            answer = invocation.client.post("/memories/import", body, timeout_s=_LONG_S)
        except ApiError as error:
            if error.status != 400 or len(parts) == 1:
                raise
            refused += 1
            out.error(f"{name}: {error.message}", "", error.code)
            continue
        invocation.report({"file": name, **answer}, f"{clean_line(name)}: {clean_line(answer['text'], 600)}")
    return FAILED if refused else OK


def _parts(name: str) -> Iterator[str]:
    """A file as it is sent: whole, or an export of Stead's part by part, which has no end to its length."""
    with Path(name).open("rb") as file:
        exported = file.read(len(_EXPORTED)) == _EXPORTED
    if not exported:
        yield read_file(name, _LIMIT_BYTES)
        return
    for part in _PART.split(Path(name).read_bytes()):
        if part:
            yield decoded(name, part, _LIMIT_BYTES)


_FORMAT = arg(
    "--format FORMAT",
    "jsonl can be imported again, markdown is to be read",
    choices=("jsonl", "markdown"),
    default="jsonl",
)
_TO = (arg("[file FILE]", "a new file (else standard output)"), _FORMAT, PLACE)
_FROM = (arg("files FILE...", "CLAUDE.md, MEMORY.md, an export (.jsonl), mem0's JSON"), *SCOPE)
ROWS: dict[str, Row] = {
    "export": ("write everything into a file", _TO, _export),
    "import": ("take files of other agents in, as a stranger's words", _FROM, _import),
}
