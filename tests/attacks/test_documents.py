"""Documents of strangers that want to stop the daemon: none takes its memory, and none holds its event loop.

Each is given to the real component that meets it: over a real socket, or in a folder that a real machine shows. What is
measured is this process, in which that component runs as it does in the daemon; memory by the kernel's own high-water
mark, the loop by the processor time that it spends between two turns, so that a busy computer spoils nothing.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import re
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

import pytest

from stead.domain.errors import FetchFault, InvalidRequest, MachineError
from stead.guardian.reach import Reach
from stead.machines.project import ALL_BYTES, ProjectFolder
from stead.machines.runner.files import unified
from stead.net.dialing import Dialer
from stead.screen.inbound import screen
from stead.tools import engines
from stead.tools.calling import ApiReadTool, Caller
from stead.tools.fetching import Fetcher
from stead.tools.web import _decoded, _for_parser
from tests.fakes.http import Exchange, Request, serve
from tests.machines.bench import live_permit, open_bench
from tests.tools.test_calling import run

MOST_MB, MOST_S = 200, 2.0


def _status(name: str) -> int:
    return next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if name in line)


@asynccontextmanager
async def unharmed() -> AsyncIterator[None]:
    """Fail when this process grew by more than 200 MB meanwhile, or its loop was held for more than a second."""
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            began = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - began)
            await asyncio.sleep(0.005)

    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark begins anew
    before = _status("VmRSS")
    watcher = asyncio.create_task(watch())
    await asyncio.sleep(0)
    yield
    await asyncio.sleep(0)
    watcher.cancel()
    assert (_status("VmHWM") - before) >> 10 < MOST_MB
    assert longest < MOST_S


N = 1_900_000
DEEP = b"[" * 900 + b"1," * (N // 2) + b"1" + b"]" * 900
REFS = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n - 1}"}] * 2} for n in range(1, 60)}
SERVERS = {f"v{n}": {"default": f"{{v{n + 1}}}{{v{n + 1}}}"} for n in range(40)}
ANSWERS: Mapping[str, bytes] = {
    "nested server variables": json.dumps({"servers": [{"url": "/{v0}", "variables": SERVERS}]}).encode(),
    "exponential references": json.dumps({"$ref": "#/$defs/d59", "$defs": {"d0": {}} | REFS}).encode(),
    "a cycle of references": b'{"$ref":"#/a","a":{"$ref":"#/b"},"b":{"$ref":"#/a"}}',
    "indentation that multiplies": DEEP,
    "short indentation that multiplies": b"[" * 900 + b"1," * 7_000 + b"1" + b"]" * 900,
    "nesting without end": b"[" * N,
    "nested objects": b'{"a":' * (N // 5),
    "a number of a million digits": b"9" * N,
    "an exponent that fills the memory": b"[1e999999999,1E+400000]",
    "escapes": b'"' + b"\\u0041" * (N // 6) + b'"',
    "half surrogate pairs": b'"' + b"\\ud800" * (N // 6) + b'"',
    "keys that stand twice": b"{" + b'"a":1,' * (N // 6) + b'"a":1}',
    "many keys": b"{" + b",".join(b'"%d":0' % n for n in range(200_000)) + b"}",
    "many empty lists": b"[" + b"[]," * (N // 3) + b"[]]",
    "one line of a table": b"a," * (N // 2),
    "invisible characters": "\u200b".encode() * (N // 3),
    "terminal strings": b"\x1b]" * (N // 2),
    "lines of blanks": (b" " * 100 + b"\n") * (N // 101),
    "aliases of YAML": b"a: &a [x,x]\n" + b"".join(b"b%d: &b%d [*a,*a]\n" % (n, n) for n in range(60)),
    "entities of XML": b'<!DOCTYPE a [<!ENTITY a "x">' + b'<!ENTITY b "&a;&a;">' * 60 + b"]><a>&b;</a>",
    "nothing but zeros": bytes(N),
    "another encoding's mark": "\ufeff{}".encode("utf-16") * 1000,
}

Reply = Callable[[Request, Exchange], Awaitable[None]]


@pytest.mark.parametrize("document", ANSWERS)
@pytest.mark.parametrize("kind", ["application/json", "text/plain"])
async def test_an_answer_of_an_api_does_no_harm(document: str, kind: str) -> None:
    async def answer(request: Request, exchange: Exchange) -> None:
        await exchange.send(200, ANSWERS[document], {"content-type": kind})

    async with serve(answer) as port:
        tool = ApiReadTool(Caller(Dialer(Reach(endpoints=frozenset({("127.0.0.1", port)})))))
        async with unharmed():
            said = await run(tool, url=f"http://127.0.0.1:{port}/")
            screen(said.text)
    assert len(said.text) <= 16_000


@pytest.mark.parametrize("document", ANSWERS)
@pytest.mark.parametrize("shape", ['{"results":%s}', '{"results":[],"unresponsive_engines":[[%s]]}', "%s"])
async def test_an_answer_of_a_search_engine_does_no_harm(document: str, shape: str) -> None:
    body = shape.encode().replace(b"%s", ANSWERS[document])
    async with unharmed():
        for engine in ("searxng", "brave", "tavily"):
            await asyncio.sleep(0)  # each is an answer of its own
            try:
                engines.read(engine, body[:2_000_000], 10)
            except FetchFault as fault:
                assert len(str(fault)) < 1_000


@cache
def bomb(window: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, window)
    return b"".join((*(packer.compress(bytes(1 << 24)) for _ in range(1 << 4)), packer.flush()))


@pytest.mark.parametrize("encoding", ["gzip", "gzip, gzip", "deflate", "br", "zstd", "identity"])
async def test_a_body_that_unpacks_to_a_quarter_of_a_gigabyte_does_no_harm(encoding: str) -> None:
    packed = bomb(31 if "gzip" in encoding else 15)

    async def answer(request: Request, exchange: Exchange) -> None:
        await exchange.send(200, packed, {"content-type": "text/plain", "content-encoding": encoding})

    async with serve(answer) as port:
        fetcher = Fetcher(Dialer(Reach(endpoints=frozenset({("127.0.0.1", port)}))))
        async with unharmed():
            try:
                page = await fetcher.fetch(f"http://127.0.0.1:{port}/")
            except FetchFault:
                return
    assert encoding in ("gzip", "identity") and len(page.body) < 10_000_000


@pytest.mark.parametrize(
    "charset",
    ["utf-7", "utf-16", "utf-32", "idna", "punycode", "unicode_escape", "zlib", "hex", "iso-2022-jp", "gb18030"],
)
async def test_a_charset_that_multiplies_or_is_none_does_no_harm(charset: str) -> None:
    async def answer(request: Request, exchange: Exchange) -> None:
        await exchange.send(200, b"+AAA-\x1b$B\\x41" * 180_000, {"content-type": f"text/html; charset={charset}"})

    async with serve(answer) as port:
        fetcher = Fetcher(Dialer(Reach(endpoints=frozenset({("127.0.0.1", port)}))))
        async with unharmed():
            page = await fetcher.fetch(f"http://127.0.0.1:{port}/")
            assert len(_for_parser(page)) < 40_000_000 and len(_decoded(page)) < 10_000_000


def test_an_api_is_called_without_documents_and_schemas() -> None:
    tool = ApiReadTool(Caller(Dialer(Reach())))
    for name in ("openapi", "answer_schema", "body_schema"):
        with pytest.raises(InvalidRequest, match="unknown field"):
            tool.parse(json.dumps({"url": "https://api.example.com/", name: {}}))


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 28)


PLANTED: Mapping[str, Callable[[Path], object]] = {
    "more than is read": sparse,
    "a pipe": os.mkfifo,
    "a link to what never ends": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a folder": Path.mkdir,
    "one endless line": lambda path: path.write_bytes(b"a" * 12_000_000),
    "nested elements": lambda path: path.write_bytes(b"<div>" * 400_000),
    "attributes": lambda path: path.write_bytes(b"<a " + b"b=c " * 400_000 + b">"),
    "an open comment": lambda path: path.write_bytes(b"<!--" * 400_000),
    "a notebook": lambda path: path.write_bytes(b'{"cells":[' + b'{"source":["x"]},' * 200_000 + b"{}]}"),
    "an archive": lambda path: path.write_bytes(gzip.compress(bytes(1 << 26))),
    "an image that claims to be large": lambda path: path.write_bytes(
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\x7f\xff\xff\xff" * 2
    ),
    "patterns": lambda path: path.write_bytes(b"(a+)+$\n**/" * 200_000),
}


@pytest.mark.parametrize("name", ["AGENTS.md", "GEMINI.md", ".github/copilot-instructions.md"])
@pytest.mark.parametrize("kind", PLANTED)
async def test_the_rules_of_a_project_do_no_harm(tmp_path: Path, kind: str, name: str) -> None:
    (tmp_path / ".github").mkdir()
    PLANTED[kind](tmp_path / name)
    async with unharmed():
        rules = await asyncio.wait_for(ProjectFolder().rules(str(tmp_path)), 20)
    assert sum(len(rule.text.encode()) for rule in rules) <= ALL_BYTES


async def test_no_file_of_a_folder_does_harm_however_it_is_read(tmp_path: Path) -> None:
    permit = live_permit()
    async with open_bench(tmp_path) as bench:
        for number, plant in enumerate(PLANTED.values()):
            plant(bench.project / f"f{number}")
        files = bench.machines
        for number, kind in enumerate(PLANTED):
            path = f"f{number}"
            for read in (
                lambda path=path: files.read(permit, path, first_line=1, lines=100_000),
                lambda path=path, kind=kind: files.grep(permit, "(a+)+$" if kind == "patterns" else "x", path, ""),
                lambda path=path: files.edit(permit, path, "no such text", "x", every=False),
                lambda path=path: files.fingerprint(permit.session, [path]),
            ):
                async with unharmed():
                    try:
                        await asyncio.wait_for(read(), 60)
                    except MachineError as fault:
                        assert fault.quotes, kind


@pytest.mark.parametrize("size_bytes", [60_000, pytest.param(300_000, marks=pytest.mark.long)])
async def test_no_page_does_harm_however_it_is_nested(tmp_path: Path, size_bytes: int) -> None:
    """The larger comment takes the parser all the time that it has."""
    async with open_bench(tmp_path) as bench:
        for kind in ("nested elements", "attributes", "an open comment"):
            PLANTED[kind](page := tmp_path / "page.html")
            content = page.read_bytes()[:size_bytes]
            async with unharmed():
                try:
                    assert len(await bench.machines.html_text(live_permit(), content)) <= 1 << 20
                except MachineError:
                    continue


@pytest.mark.parametrize("line", ["a\n", "a\nb\n", "x" * 2_000 + "\n", "\n"])
def test_a_diff_costs_no_more_than_a_moment(line: str) -> None:
    began = time.process_time()
    assert len(unified(line * 900, f"{line * 400}y\n{line * 400}z\n")) < 20_000
    assert time.process_time() - began < 5


@pytest.mark.parametrize("tail", ["rest.txt", "a/b.py\nsecret.key", "x\u2028y", "x\x85y", "x\x0cy", "x\ry"])
@pytest.mark.parametrize("start", ["\x1b]", "\x1bP", "\x1b_", "\x1b^", "\x1bX", "\x1b]8;;http://e.example.com"])
def test_a_terminal_string_that_does_not_end_hides_no_line(start: str, tail: str) -> None:
    seen = screen(f"one{start}two\n{tail}\nlast\x07 line")
    assert "last line" in seen.text and "two" in seen.text
    assert all(word in seen.text for word in re.findall(r"\w+", tail))
    assert any(warning.rule for warning in seen.warnings)


def test_a_terminal_string_that_ends_in_its_line_is_taken_out() -> None:
    assert screen("one\x1b]0;title\x07 two\x1b]8;;u\x1b\\link").text == "one twolink"
