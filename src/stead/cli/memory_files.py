"""Memory in and out: everything in one file, and files of other agents taken in.

Layer: cli.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from stead.cli import figures
from stead.cli.invocation import FAILED, OK, CommandError, Invocation
from stead.cli.memory_lines import place_of, scope_fields
from stead.cli.output import clean, clean_line
from stead.client import ApiError

_LIMIT_BYTES = 10_000_000
_LONG_S = 600.0
_LOOK_S = 3.0
_EXPORTED = b'{"stead":"memory export'
"""How each part of an export begins."""


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
    parts = [(Path(name).name, text) for name in arguments.files for text in _parts(name)]
    refused = 0
    for name, text in parts:
        try:
            with _watched(invocation, name):
                answer = invocation.client.post(
                    "/memories/import", {"name": name, "text": text, **scope}, timeout_s=_LONG_S
                )
        except ApiError as error:
            if error.status != 400 or len(parts) == 1:
                raise
            refused += 1
            out.error(f"{name}: {error.message}", "", error.code)
            continue
        invocation.report({"file": name, **answer}, f"{clean_line(name)}: {clean_line(answer['text'], 600)}")
    return FAILED if refused else OK


@contextmanager
def _watched(invocation: Invocation, name: str) -> Iterator[None]:
    """Tell on a terminal how far the import has come, for as long as it runs."""
    done = Event()
    watch = Thread(target=_tell, args=(invocation, name, done), daemon=True)
    if invocation.interactive:
        watch.start()
    try:
        yield
    finally:
        done.set()


def _tell(invocation: Invocation, name: str, done: Event) -> None:
    while not done.wait(_LOOK_S):
        try:
            at, every = invocation.client.get("/memories/state")["importing"]
        except ApiError as error:
            invocation.out.note(f"how far it has come is not known: {error.message}")
            return
        if every and not done.is_set():
            invocation.out.note(f"{clean_line(name)}: {at:,} of {every:,}")


def _parts(name: str) -> Iterator[str]:
    """A file as it is sent: whole, or an export of Stead's part by part, which has no end to its length."""
    with Path(name).open("rb") as file:
        exported = file.read(len(_EXPORTED)) == _EXPORTED
    if not exported:
        yield _read(name)
        return
    with Path(name).open("rb") as file:
        part = bytearray()
        for line in file:
            if line.startswith(_EXPORTED) and part:
                yield _text(name, bytes(part))
                part.clear()
            part += line
            if len(part) > _LIMIT_BYTES:
                raise CommandError(f"a part of {name!r} has more than {figures.size(_LIMIT_BYTES)}", "export it again")
        yield _text(name, bytes(part))


def _read(name: str) -> str:
    with Path(name).open("rb") as file:
        content = file.read(_LIMIT_BYTES + 1)
    if len(content) > _LIMIT_BYTES:
        raise CommandError(f"{name!r} has more than {figures.size(_LIMIT_BYTES)}", "split it, and import the parts")
    return _text(name, content)


def _text(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(f"{name!r} is not UTF-8 text", "give Markdown, or lines of JSON") from error


RUN: dict[str, Callable[[Invocation, Namespace], int]] = {"export": _export, "import": _import}
