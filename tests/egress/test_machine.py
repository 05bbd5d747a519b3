"""From inside a real machine: nothing gets out but through the proxy, and real programs do get through it."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from stead.domain.secrets import HostBinding
from tests.egress.bench import Site, Way, fields_of, open_way, short_folder
from tests.machines.bench import Bench, live_permit, open_bench, until
from tests.promises import promise


class Inside:
    """A machine with a way out."""

    def __init__(self, bench: Bench, way: Way) -> None:
        self.bench = bench
        self.way = way

    async def run(self, command: str, *hosts: str, timeout_s: float = 60) -> str:
        """What a command says, whatever its exit code."""
        permit = live_permit()
        try:
            ran = await self.bench.machines.run(
                permit, command, timeout_s=timeout_s, cap_bytes=200_000, on_output=lambda _text: None, hosts=hosts
            )
        finally:
            permit.close()
        return ran.output


@pytest.fixture
async def inside(tmp_path: Path, shop: Site) -> AsyncIterator[Inside]:
    """A machine; nothing is allowed, and loopback at the shop's port is what names lead to."""
    async with (
        short_folder() as folder,
        open_way(folder, shop.port) as way,
        open_bench(tmp_path, egress=way.proxy) as bench,
    ):
        yield Inside(bench, way)


def served(pages: dict[str, bytes]) -> Site:
    """A site of several pages."""

    class Pages(Site):
        async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.visits += 1
            head = await reader.readuntil(b"\r\n\r\n")
            self.requests.append(head)
            path = head.split(b" ")[1].decode().partition("?")[0]
            found = pages.get(path)
            kind = (
                b"text/html" if path.endswith("/") else b"application/json" if path.count("/") == 1 else b"text/plain"
            )
            status = b"404 No" if found is None else b"200 OK"
            body = found or b""
            length = b"\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body)
            writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Type: " + kind + length)
            writer.write(b"" if head.startswith(b"HEAD") else body)
            await writer.drain()
            writer.close()

    return Pages()


# -- nothing by itself ----------------------------------------------------------------------------------------------


@promise("SEC-6.network")
async def test_nothing_gets_out_of_a_machine_by_default(inside: Inside, shop: Site) -> None:
    said = await inside.run(
        f"curl -sS -m 5 http://shop.example.com:{shop.port}/; curl -sS -m 5 https://shop.example.com/;"
        f"curl -sS -m 5 --noproxy '*' http://127.0.0.1:{shop.port}/; curl -sS -m 5 --noproxy '*' http://93.184.216.34/;"
        "curl -sS -m 5 http://169.254.169.254/latest/; curl -sS -m 5 http://127.0.0.1.example.com/"
    )
    assert said.count("egress-host") == 2 and "CONNECT tunnel failed, response 403" in said and "egress-address" in said
    assert said.count("Failed to connect") == 2
    assert shop.visits == 0 and inside.way.names.asked == []


@promise("SEC-6.network")
async def test_no_name_is_resolved_inside(inside: Inside) -> None:
    said = await inside.run(
        "getent hosts shop.example.com || echo unknown; python3 - <<'E'\n"
        "import socket\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "for server in ('8.8.8.8', '127.0.0.53', '169.254.169.253'):\n"
        "    try:\n"
        "        s.sendto(b'x' * 30, (server, 53))\n"
        "        s.settimeout(0.2)\n"
        "        s.recv(100)\n"
        "        print('answered')\n"
        "    except OSError as error:\n"
        "        print('closed')\n"
        "E"
    )
    assert said.split() == ["unknown", "closed", "closed", "closed"]


@promise("SEC-6.network")
async def test_a_call_reaches_the_hosts_that_it_names_while_it_runs(inside: Inside, shop: Site) -> None:
    host = f"shop.example.com:{shop.port}"
    background = (
        "python3 -c \"import socket;s=socket.create_connection(('127.0.0.1',3128));s.sendall(b'CONNECT {0} HTTP/1.1"
    )
    background += (
        "\\r\\nHost: {0}\\r\\n\\r\\n');print(s.recv(99)[:12]);open('open','w');print(s.recv(99));open('cut','w')\""
    )
    said = await inside.run(
        f"curl -sS http://{host}/; {background.format(host)} >log 2>&1 & until [ -e open ]; do sleep 0.01; done", host
    )
    assert said == "ok"
    await until(lambda: (inside.bench.project / "cut").exists())
    assert (inside.bench.project / "log").read_text().split("\n")[:2] == ["b'HTTP/1.1 200'", "b''"]
    assert "egress-host" in await inside.run(f"curl -sS http://{host}/")
    await until(lambda: len(inside.way.events) == 3)
    assert {one.key for one in inside.way.events[:2]} == {"call_1_0"} and inside.way.events[2].key == ""


@promise("SEC-6.network")
async def test_each_redirect_is_judged_anew(inside: Inside, shop: Site) -> None:
    for there, why in (
        ("http://169.254.169.254/latest/", "egress-address"),
        ("http://printer.local/", "egress-address"),
        ("http://other.example.com/", "egress-host"),
        ("http://[fd00:ec2::254]/", "egress-address"),
    ):
        shop.answer = f"HTTP/1.1 302 Found\r\nLocation: {there}\r\nContent-Length: 0\r\n\r\n".encode()
        assert why in await inside.run(
            f"curl -sS -L http://shop.example.com:{shop.port}/", f"shop.example.com:{shop.port}"
        )
    inside.way.names.answers["shop.example.com"] = [["127.0.0.1"], ["127.0.0.2"]]
    shop.answer = (
        f"HTTP/1.1 302 Found\r\nLocation: http://shop.example.com:{shop.port}/b\r\nContent-Length: 0\r\n\r\n".encode()
    )
    assert "egress-address" in await inside.run(
        f"curl -sS -L http://shop.example.com:{shop.port}/", f"shop.example.com:{shop.port}"
    )


# -- the bridge -----------------------------------------------------------------------------------------------------


async def test_the_bridge_carries_much_at_once_unharmed(inside: Inside, shop: Site) -> None:
    content = os.urandom(3_000_000)
    shop.answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(content) + content
    wanted = hashlib.sha256(content).hexdigest()
    url = f"http://shop.example.com:{shop.port}/"
    said = await inside.run(
        f"for n in 1 2 3 4 5 6 7 8; do (curl -sS {url} | sha256sum) & done; wait", f"shop.example.com:{shop.port}"
    )
    assert said.count(wanted) == 8
    (inside.bench.project / "big").write_bytes(content)
    await inside.run(f"curl -sS -T big {url}", f"shop.example.com:{shop.port}")
    assert shop.requests[-1].endswith(content)


async def test_the_bridge_is_built_again_when_something_inside_killed_it(inside: Inside, shop: Site) -> None:
    url = f"http://shop.example.com:{shop.port}/"
    hosts = [f"shop.example.com:{shop.port}"]
    assert await inside.run(f"curl -sS {url}", *hosts) == "ok"
    await inside.run("for p in /proc/[0-9]*; do grep -q start.pyc $p/cmdline && kill -9 ${p#/proc/}; done; true")
    assert await inside.run(f"for n in 1 2 3; do curl -sS {url} && break; sleep 0.1; done", *hosts) == "ok"


async def test_a_machine_whose_processes_are_used_up_turns_connections_away(inside: Inside, shop: Site) -> None:
    said = await inside.run(
        "python3 - <<'E'\nimport os, socket, time\n"
        "try:\n  while True:\n    if os.fork() == 0:\n      time.sleep(3); os._exit(0)\nexcept OSError: pass\n"
        "s = socket.create_connection(('127.0.0.1', 3128)); s.settimeout(5)\n"
        "try:\n  s.sendall(b'x'); print('closed', s.recv(9))\nexcept OSError: print('closed')\nE"
    )
    assert said.startswith("closed")
    assert await inside.run("sleep 3.2; echo fine") == "fine\n"


async def test_the_socket_and_the_certificates_cannot_be_changed_from_inside(inside: Inside) -> None:
    said = await inside.run(
        "cd /run/egress; rm -f proxy.sock; mv ca.pem x; echo evil >>ca.pem; touch y; chmod 777 .; ln -s /etc x; ls -A; "
        "tail -1 ca.pem"
    )
    assert said.endswith("ca.pem\nproxy.sock\n-----END CERTIFICATE-----\n"), said


# -- real programs --------------------------------------------------------------------------------------------------


def wheel(name: str, version: str, source: str) -> bytes:
    """A package of one module."""
    made, info = io.BytesIO(), f"{name}-{version}.dist-info"
    with zipfile.ZipFile(made, "w") as file:
        file.writestr(f"{name}.py", source)
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return made.getvalue()


async def serve_pages(
    pages: dict[str, bytes], tmp_path: Path, command: str, tool: str
) -> tuple[str, list[str], list[str]]:
    """Run a program against a site; gives what it says refused, then allowed, and which paths were asked for."""
    if not Path(f"/usr/bin/{tool}").exists():
        pytest.skip(f"SKIPPED: {tool} is not in /usr/bin of this host, so it is not tried")
    made = served(pages)
    async with await asyncio.start_server(made.serve, "127.0.0.1") as server, short_folder() as folder:
        port = server.sockets[0].getsockname()[1]
        pages.update({path: page.replace(b"{port}", str(port).encode()) for path, page in pages.items()})
        async with open_way(folder, port) as way, open_bench(tmp_path, egress=way.proxy) as bench:
            inside = Inside(bench, way)
            command = command.replace("{port}", str(port))
            refused = await inside.run(command)
            assert made.visits == 0
            allowed = await inside.run(command, f"packages.example.com:{port}", timeout_s=120)
    return refused, allowed.splitlines(), [request.split(b" ")[1].decode() for request in made.requests]


@promise("SEC-6.network")
async def test_pip_installs_from_an_allowed_index(tmp_path: Path) -> None:
    file = "quill-1.0-py3-none-any.whl"
    package = wheel("quill", "1.0", "INK = 'blue'\n")
    link = f'<a href="/files/{file}#sha256={hashlib.sha256(package).hexdigest()}">{file}</a>'.encode()
    command = (
        "python3 -m pip install -q --disable-pip-version-check --retries 0 --target lib "
        "--trusted-host packages.example.com --index-url http://packages.example.com:{port}/simple quill 2>&1; "
        "PYTHONPATH=lib python3 -c 'import quill; print(quill.INK)'"
    )
    pages = {"/simple/quill/": link, f"/files/{file}": package}
    refused, allowed, asked = await serve_pages(pages, tmp_path, command, "pip3")
    assert "403" in refused or "No matching distribution" in refused, refused
    assert allowed[-1] == "blue" and asked == ["/simple/quill/", f"/files/{file}"]


@promise("SEC-6.network")
async def test_npm_installs_from_an_allowed_registry(tmp_path: Path) -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, text in (
            ("package.json", '{"name": "quill", "version": "1.0.0"}'),
            ("index.js", "exports.ink = 'blue'"),
        ):
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    package = gzip.compress(made.getvalue())
    version = {
        "name": "quill",
        "version": "1.0.0",
        "dist": {"tarball": "http://packages.example.com:{port}/files/quill.tgz"},
    }
    command = (
        "npm install --silent --no-audit --no-fund --fetch-retries 0 "
        "--registry http://packages.example.com:{port}/ quill 2>&1; "
        "node -e 'console.log(require(\"quill\").ink)'"
    )
    about = {"name": "quill", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
    pages = {"/quill": json.dumps(about).encode(), "/files/quill.tgz": package}
    refused, allowed, asked = await serve_pages(pages, tmp_path, command, "npm")
    assert "blue" not in refused
    assert allowed[-1] == "blue", allowed
    assert asked == ["/quill", "/files/quill.tgz"]


@promise("SEC-6.network")
async def test_git_clones_from_an_allowed_host(tmp_path: Path) -> None:
    work, bare = tmp_path / "work", tmp_path / "bare.git"
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")

    def git(*words: str, cwd: Path) -> None:
        subprocess.run(["git", *who, *words], cwd=cwd, env=environment, check=True, capture_output=True)

    work.mkdir()
    git("init", "-q", cwd=work)
    (work / "ink.txt").write_text("blue\n")
    git("add", ".", cwd=work)
    git("commit", "-q", "-m", "Ink", cwd=work)
    git("clone", "-q", "--bare", str(work), str(bare), cwd=tmp_path)
    git("update-server-info", cwd=bare)
    pages = {f"/bare.git/{path.relative_to(bare)}": path.read_bytes() for path in bare.rglob("*") if path.is_file()}
    shutil.rmtree(work)
    command = "git clone -q http://packages.example.com:{port}/bare.git got 2>&1; cat got/ink.txt"
    refused, allowed, asked = await serve_pages(pages, tmp_path, command, "git")
    assert "403" in refused and allowed[-1] == "blue" and "/bare.git/info/refs?service=git-upload-pack" in asked


@promise("SEC-6.network")
async def test_a_value_reaches_a_bound_host_and_never_the_machine(inside: Inside, shop: Site) -> None:
    shop.answer = b"HTTP/1.1 200 OK\r\n\r\n{request}"
    bound = inside.way.book.add("shop", "quill-4711-ink-0815", HostBinding("shop.example.com"))
    host = f"shop.example.com:{shop.port}"
    said = await inside.run(f"curl -sS -H 'X-Key: {bound}' http://{host}/ | tee got; env; cat got", host)
    sent: Sequence[str] = list(fields_of(shop.requests[0]).values())
    assert "quill-4711-ink-0815" in sent
    assert "quill-4711-ink-0815" not in said and bound in said
