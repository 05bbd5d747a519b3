"""A registry on loopback: Python's simple index and Node's registry, with packages that are made here.

The few real packages, pytest and what it needs, are packed anew from what the tests were set up with.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import importlib.metadata
import io
import json
import tarfile
import zipfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from bench.jobs.job import Registry
from tests.fakes.http import Exchange, Request, serve

PYTEST = ("pytest", "iniconfig", "packaging", "pluggy", "pygments")

_QUILLKIT = {
    "quillkit/__init__.py": '"""Pens."""\n\n\ndef nib(width):\n    """The name of a nib."""\n'
    '    return f"nib of {width} mm"\n',
}
_PAD = {
    "package.json": json.dumps({"name": "pad-words", "version": "1.0.0", "main": "index.js", "license": "MIT"}),
    "index.js": "module.exports = (text, width) => String(text).padStart(width, '.');\n",
}


@functools.cache
def quillkit() -> tuple[str, bytes]:
    """A wheel of a package of one function: its name and its content."""
    return _wheel("quillkit", "1.2.0", {path: text.encode() for path, text in _QUILLKIT.items()})


@functools.cache
def pad_words() -> tuple[str, bytes]:
    """A package of one function for Node: its name and its content."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, text in _PAD.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mode = len(text), 0o644
            tar.addfile(entry, io.BytesIO(text.encode()))
    return "pad-words-1.0.0.tgz", packed.getvalue()


@functools.cache
def pytest_wheels() -> tuple[tuple[str, bytes], ...]:
    """Wheels of pytest and what it needs, as they are installed here."""
    return tuple(map(_repacked, PYTEST))


def put_wheels(folder: Path) -> None:
    """Lay pytest's wheels into a folder."""
    folder.mkdir()
    for name, content in pytest_wheels():
        (folder / name).write_bytes(content)


@contextlib.asynccontextmanager
async def registry() -> AsyncIterator[Registry]:
    """Serve it. Both hosts are one server: their paths differ."""
    wheel, tarball = quillkit(), pad_words()
    integrity = base64.b64encode(hashlib.sha512(tarball[1]).digest()).decode()
    files = {f"/files/{name}": content for name, content in (wheel, tarball)}
    digest = hashlib.sha256(wheel[1]).hexdigest()
    link = f'<!DOCTYPE html><html><body><a href="/files/{wheel[0]}#sha256={digest}">{wheel[0]}</a></body></html>'
    at: list[Registry] = []

    async def answer(request: Request, exchange: Exchange) -> None:
        path = request.path.partition("?")[0]
        if path in files:
            await exchange.send(200, files[path], {"content-type": "application/octet-stream"})
        elif path == "/simple/quillkit/":
            await exchange.send(200, link.encode(), {"content-type": "text/html"})
        elif path == "/pad-words":
            dist = {"tarball": f"http://{at[0].npm}/files/{tarball[0]}", "integrity": f"sha512-{integrity}"}
            version = {"name": "pad-words", "version": "1.0.0", "dist": dist}
            tags = {"latest": "1.0.0"}
            page = {"name": "pad-words", "dist-tags": tags, "versions": {"1.0.0": version}}
            await exchange.send(200, json.dumps(page).encode())
        else:
            await exchange.send(404, b"{}")

    async with serve(answer) as port:
        at.append(Registry(port))
        yield at[0]


def _repacked(name: str) -> tuple[str, bytes]:
    """A wheel of an installed package; what its installation added is left out."""
    installed = importlib.metadata.distribution(name)
    files = {}
    for file in installed.files or ():
        if file.parts[0] == ".." or "__pycache__" in file.parts or file.name in ("RECORD", "INSTALLER", "REQUESTED"):
            continue
        files[str(file)] = Path(str(installed.locate_file(file))).read_bytes()
    return _wheel(name, installed.version, files)


def _wheel(name: str, version: str, files: Mapping[str, bytes]) -> tuple[str, bytes]:
    info = next((path.partition("/")[0] for path in files if ".dist-info/" in path), f"{name}-{version}.dist-info")
    whole = dict(files)
    whole.setdefault(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode())
    whole[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: jobs\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    rows = []
    for path, content in whole.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(content)}\n")
    whole[f"{info}/RECORD"] = "".join([*rows, f"{info}/RECORD,,\n"]).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in whole.items():
            wheel.writestr(path, content)
    return f"{name}-{version}-py3-none-any.whl", packed.getvalue()
