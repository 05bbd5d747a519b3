"""Files to and from a session: pictures and documents that go with a message, and files of its folder.

Layer: cli.
"""

from __future__ import annotations

import base64
import os
import re
import shlex
from argparse import Namespace
from pathlib import Path
from urllib.parse import unquote

from stead.cli import figures
from stead.cli.forms import SESSION, Row, arg
from stead.cli.invocation import CommandError, Invocation
from stead.cli.output import clean_line
from stead.client import Json

MOST_BYTES = 20_000_000
"""Of a file that goes with a message."""
_LONG_S = 120.0
_NAMED = re.compile(r'(?:^|\s)@(?:"([^"\n]+)"|(\S+))(?=\s|$)')
_SHOWN = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf")
_PASTED_CHARS = 4_000

ATTACH = arg("--attach FILE...", "a picture (PNG, JPEG, GIF, WebP) or PDF for the model to see")


def attached(invocation: Invocation, names: list[str]) -> Json:
    """Upload files; gives the field of a message that names them, or nothing.

    Raises:
        CommandError: one cannot be read, or is too large.
        ApiError: the daemon does not take one.
    """
    contents = []
    for name in names:
        path = Path(name).expanduser()
        try:
            with path.open("rb") as file:
                data = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise CommandError(
                f"{name!r} cannot be read: {error.strerror}", "name a file with --attach FILE"
            ) from error
        if len(data) > MOST_BYTES:
            raise CommandError(f"{name!r} has more than {figures.size(MOST_BYTES)}", "make it smaller")
        body = {"name": path.name, "data": base64.b64encode(data).decode()}
        contents.append(invocation.client.post("/attachments", body, timeout_s=_LONG_S)["content"])
    return {"attachments": contents} if contents else {}


def named(text: str, directory: str) -> list[str]:
    """The pictures and documents that a line names as ``@FILE`` or ``@"FILE"``, in a folder, and that there are."""
    paths = (os.path.expanduser(quoted or plain) for quoted, plain in _NAMED.findall(text))
    return [path for name in paths if _is_shown(path := os.path.join(directory, name))]


def pasted(text: str) -> str:
    """What a terminal pasted; pictures and documents that were dropped on it as they are named in a line."""
    try:
        names = shlex.split(text) if len(text) <= _PASTED_CHARS and "\n" not in text.strip() else []
    except ValueError:
        return text
    names = [unquote(name.removeprefix("file://")) if name.startswith("file://") else name for name in names]
    if not names or not all(os.path.isabs(name) and '"' not in name and _is_shown(name) for name in names):
        return text
    return " ".join(f'@"{name}"' if " " in name else f"@{name}" for name in names) + " "


def _is_shown(name: str) -> bool:
    return name.lower().endswith(_SHOWN) and os.path.isfile(name)


def described(attachments: list[Json]) -> str:
    """Their names in brackets, after a space; "" for none."""
    return "".join(f" [{clean_line(one['name'])}]" for one in attachments)


def _get(invocation: Invocation, arguments: Namespace) -> int:
    target = Path(arguments.output or Path(arguments.path).name)
    content = invocation.client.content(f"/sessions/{arguments.id}/raw", path=arguments.path)
    try:
        with target.open("xb") as file:
            file.write(content)
    except OSError as error:
        raise CommandError(
            f"{str(target)!r} cannot be written: {error.strerror}", "name another with -o FILE"
        ) from error
    return invocation.report(
        {"path": str(target), "size_bytes": len(content)}, f"{target}: {figures.size(len(content))}"
    )


_WHAT = (
    SESSION,
    arg("path PATH", "from its folder on"),
    arg("-o --output FILE", "where to (else here, by its own name)"),
)
ROWS: dict[str, Row] = {"get": ("copy any file of its folder to here", _WHAT, _get)}
