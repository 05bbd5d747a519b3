"""The page's files: what ``make ui`` built from ``frontend/``, and a word where nothing was built.

Layer: a door. It must not know what the page does, nor who asks: the guard has let them in, and these files are no
secret. What is asked for is a file only if it has the plain name of one, without a dot at its front, a backslash or a
second way of writing it; so no path leads out of the folder, and nothing lists it.

The build's side of the contract:

- ``index.html`` names everything else, and is asked for each time (``no-cache``, with an ETag).
- What is below ``assets`` has a hash of its content in its name and is kept for ever. Next to it may lie the same file
  as ``.gz``, made once by the build, sent to clients that accept gzip.
- A path that names no file and could be a view of the page gets ``index.html``, so a link into the page can be opened.
  The last part of such a path has no dot.

A new build is served at once: nothing is held but the name of the build.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from stead.web.auth import is_api
from stead.web.errors import Problem, answer

STATIC = Path(__file__).parent / "static"
INDEX = "/index.html"
MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
"""What may be served; source maps, and whatever else a build may leave, may not."""

_HASHED = "/assets/"
_FILE = re.compile(r"(?:/[\w-]+)*/[\w-]+(?:\.[\w-]+)*(?P<suffix>\.\w+)", re.ASCII)
_FILE_CHARS, _VIEW_CHARS = 255, 2048
_NOT_BUILT = b"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>Stead: the page is not built</title>
<h1>The page has not been built</h1>
<p>Stead runs; only its page is missing. In the folder of the clone run <code>make ui</code>, then load this again.</p>
<p>Until then the command line does everything: <code>stead --help</code></p>
"""


class Pages:
    """The ASGI application of everything that is not the API.

    Args:
        folder: what was built; it may be missing, and may be rebuilt at any time.
    """

    def __init__(self, folder: Path = STATIC) -> None:
        self._folder = folder
        self._named: tuple[tuple[int, int, int], str] | None = None

    def build(self) -> str:
        """Names what was built: 12 hexadecimal digits, the same for the same page; "" where nothing was built.

        The index names every asset by its content, so its own content names the whole.
        """
        index = self._folder / INDEX[1:]
        try:
            found = index.stat()
            seen = (found.st_mtime_ns, found.st_size, found.st_ino)
            if self._named is None or self._named[0] != seen:
                self._named = (seen, hashlib.sha256(index.read_bytes()).hexdigest()[:12])
        except FileNotFoundError:
            return ""
        return self._named[1]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        response = await self._respond(scope["method"], scope["path"], Headers(scope=scope))
        await response(scope, receive, send)

    async def _respond(self, method: str, path: str, headers: Headers) -> Response:
        file = _file_at(path)
        is_view = not file and _may_be_view(path)
        if not file and not is_view:
            return _nothing_at(path)
        if method not in ("GET", "HEAD"):
            response = answer(Problem(405, "method", f"{method} is not possible on {path!r}; possible: GET, HEAD"))
            response.headers["allow"] = "GET, HEAD"
            return response
        name = INDEX if is_view else file
        if name.startswith(_HASHED):
            return await self._asset(name, takes_gzip(headers.get("accept-encoding", "")))
        content = await asyncio.to_thread(_read, self._folder / name[1:])
        if content is not None:
            return _fresh(content, MEDIA_TYPES[Path(name).suffix], headers.get("if-none-match", ""))
        return _nothing_at(path) if name != INDEX else Response(_NOT_BUILT, 503, _NO_STORE, "text/html; charset=utf-8")

    async def _asset(self, name: str, gzip: bool) -> Response:
        """A file that never changes."""
        headers = {"cache-control": "public, max-age=31536000, immutable", "vary": "accept-encoding"}
        file = self._folder / name[1:]
        content = await asyncio.to_thread(_read, file.with_name(f"{file.name}.gz")) if gzip else None
        if content is not None:
            headers["content-encoding"] = "gzip"
        else:
            content = await asyncio.to_thread(_read, file)
        if content is None:
            return _nothing_at(name)
        return Response(content, headers=headers, media_type=MEDIA_TYPES[file.suffix])


def takes_gzip(accepted: str) -> bool:
    """Whether an ``Accept-Encoding`` header (RFC 9110, 12.5.3) accepts gzip; "" accepts nothing but the file itself."""
    weights: dict[str, str] = {}
    for part in accepted.lower().split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        weights[name] = next((said[2:] for said in parameters if said.startswith("q=")), "1")
    return weights.get("gzip", weights.get("*", "0")).strip("0. ") != ""


_NO_STORE = {"cache-control": "no-store"}


def _file_at(path: str) -> str:
    """The name of the file that a path asks for, "" if it asks for none that may be served."""
    named = _FILE.fullmatch(path) if len(path) <= _FILE_CHARS else None
    return path if named and named["suffix"] in MEDIA_TYPES else ""


def _may_be_view(path: str) -> bool:
    """Whether the page may have a view there: a path of ordinary parts, the last one without a dot."""
    if path == "/":
        return True
    parts = path[1:].removesuffix("/").split("/")
    if len(path) > _VIEW_CHARS or is_api(path) or path.startswith(_HASHED) or "\\" in path or not path.isprintable():
        return False
    return not {"", ".", ".."} & set(parts) and "." not in parts[-1]


def _nothing_at(path: str) -> Response:
    response = answer(Problem(404, "not_found", f"there is nothing at {path!r}; see /api/v1/openapi.json"))
    response.headers.update(_NO_STORE)
    return response


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _fresh(content: bytes, media_type: str, known: str) -> Response:
    """A file that may change, or that it has not since the caller asked last (``If-None-Match``)."""
    etag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    # A tab's icon may be asked for with each title that the tab gets.
    headers = {"etag": etag, "cache-control": "no-cache" if media_type.startswith("text/html") else "max-age=3600"}
    if {"*", etag} & {one.strip().removeprefix("W/") for one in known.split(",")}:
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=media_type)
