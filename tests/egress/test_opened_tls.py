"""Real programs through TLS that the person let be opened: they trust the workspace's authority and nothing is lost."""

from __future__ import annotations

import asyncio
import hashlib
import os
import ssl
import subprocess
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from stead.domain.secrets import HostBinding
from tests.egress.bench import make_certificate, open_way, short_folder
from tests.egress.test_machine import Inside, wheel
from tests.fakes.http import Exchange, Handler, Request, serve
from tests.machines.bench import open_bench
from tests.promises import promise

VALUE = "quill-4711-ink-0815"
HOST = "packages.example.com"
BACKEND = Path("/usr/lib/git-core/git-http-backend")


@asynccontextmanager
async def opened(tmp_path: Path, handler: Handler) -> AsyncIterator[tuple[Inside, str, str]]:
    """A machine, the server's authority, and the placeholder of a secret that may be put into TLS to it."""
    context, certificate = make_certificate(tmp_path, HOST)
    trust = ssl.create_default_context(cafile=str(certificate))
    async with (
        serve(handler, tls=context) as port,
        short_folder() as folder,
        open_way(folder, port, tls=trust) as way,
        open_bench(tmp_path, egress=way.proxy) as bench,
    ):
        yield Inside(bench, way), f"{HOST}:{port}", way.book.add("token", VALUE, HostBinding(HOST, tls=True))


def require(*programs: str | Path) -> None:
    """Skip, loudly, where this host lacks one."""
    for program in programs:
        if not Path(program).exists():
            pytest.skip(f"SKIPPED: this host has no {program}, so it is not tried")


@promise("SEC-6.network", "SEC-7.bound")
async def test_pip_installs_by_https_from_an_index_that_wants_a_token(tmp_path: Path) -> None:
    require("/usr/bin/pip3")
    file = "quill-1.0-py3-none-any.whl"
    package = wheel("quill", "1.0", "INK = 'blue'\n")
    link = f'<a href="/files/{file}#sha256={hashlib.sha256(package).hexdigest()}">{file}</a>'.encode()
    pages = {"/simple/quill/": (link, "text/html"), f"/files/{file}": (package, "application/zip")}
    wanted = "Basic " + b64encode(f"ada:{VALUE}".encode()).decode()
    asked: list[tuple[str, bool]] = []

    async def handle(request: Request, exchange: Exchange) -> None:
        asked.append((request.path, request.headers.get("authorization") == wanted))
        body, kind = pages.get(request.path, (b"", "text/plain"))
        await exchange.send(200 if body and asked[-1][1] else 401, body, {"content-type": kind})

    async with opened(tmp_path, handle) as (inside, host, placeholder):
        install = "python3 -m pip install -q --disable-pip-version-check --retries 0 --no-input --target lib"
        index = f"https://ada:{quote(placeholder, safe='')}@{host}/simple"
        said = await inside.run(
            f"{install} --index-url {index} quill 2>&1; PYTHONPATH=lib python3 -c 'import quill; print(quill.INK)'",
            host,
            timeout_s=120,
        )
        told = str(inside.way.events)
    assert said.splitlines()[-1] == "blue", said
    assert ("/simple/quill/", True) in asked and (f"/files/{file}", True) in asked
    assert VALUE not in said + told and wanted.removeprefix("Basic ") not in said + told


class Repositories:
    """A git server: git's own program behind HTTP, for whoever has the token."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.refused = 0

    async def handle(self, request: Request, exchange: Exchange) -> None:
        """One request of git's protocol."""
        if request.headers.get("authorization") != f"Bearer {VALUE}":
            self.refused += 1
            await exchange.send(401, b"", {"www-authenticate": "Bearer"})
            return
        path, _, query = request.path.partition("?")
        environment = {
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "HOME": str(self.root),
            "PATH": os.environ["PATH"],
            "REQUEST_METHOD": request.method,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REMOTE_USER": "ada",
            "CONTENT_TYPE": request.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(request.body)),
            "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
        }
        program = await asyncio.create_subprocess_exec(
            BACKEND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        answer, _ = await asyncio.wait_for(program.communicate(request.body), 20)
        head, _, body = answer.partition(b"\r\n\r\n")
        fields = dict(line.lower().split(": ", 1) for line in head.decode().split("\r\n"))
        await exchange.send(int(fields.pop("status", "200")[:3]), body, fields)


@promise("SEC-6.network", "SEC-7.bound")
async def test_git_clones_and_pushes_by_https_with_a_token(tmp_path: Path) -> None:
    require("/usr/bin/git", BACKEND)
    root = tmp_path / "repositories"
    bare = root / "ink.git"
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True, env=environment)
    repositories = Repositories(root)
    async with opened(tmp_path, repositories.handle) as (inside, host, placeholder):
        git = "git -c user.name=Ada -c user.email=ada@example.com"
        said = await inside.run(
            f"export GIT_TERMINAL_PROMPT=0; {git} clone -q https://{host}/ink.git none 2>&1 && echo unasked;"
            f"export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=http.extraHeader;"
            f"export GIT_CONFIG_VALUE_0='Authorization: Bearer {placeholder}';"
            f"{git} clone -q https://{host}/ink.git ink 2>&1; cd ink;"
            f"head -c 700000 /dev/urandom >blot; echo blue >ink;"
            f"{git} add . && {git} commit -q -m Ink && {git} push -q origin HEAD:main 2>&1;"
            f"cd ..; {git} clone -q -b main https://{host}/ink.git again && cmp ink/blot again/blot && cat again/ink",
            host,
            timeout_s=120,
        )
    assert said.splitlines()[-1] == "blue" and "unasked" not in said, said
    assert repositories.refused
    assert VALUE not in said
    kept = subprocess.run(
        ["git", "-C", str(bare), "show", "main:ink"], capture_output=True, env=environment, check=True
    )
    assert kept.stdout == b"blue\n"
