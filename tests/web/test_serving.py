"""How the built page is served: each file with its right type, kept as long as it may be, and nothing beside it."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import httpx2
import pytest

from stead.web.pages import MEDIA_TYPES, Pages, takes_gzip
from tests.web.door import DEADLINE_S, Door, open_door
from tests.web.simulator import Home

INDEX = b"<!doctype html><title>Stead</title><script type=module src=/assets/index-Ab12Cd34.js></script>"
SCRIPT = b"export const word = 'lantern';\n" * 100
ZIPPED = gzip.compress(SCRIPT, 9, mtime=0)
FILES: Mapping[str, bytes] = {
    "index.html": INDEX,
    "icon.svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    "stead.webmanifest": b"{}",
    "assets/index-Ab12Cd34.js": SCRIPT,
    "assets/index-Ab12Cd34.js.gz": ZIPPED,
    "assets/index-Ab12Cd34.js.map": b"{}",
    "assets/worker-Ab12Cd34.mjs": b"export {}",
    "assets/index-Ef56Gh78.css": b"body{}",
    "assets/inter-Ij90Kl12.woff2": b"wOF2",
    "assets/parse-Mn34Op56.wasm": b"\0asm",
    "assets/.hidden": b"not served",
    ".vite/manifest.json": b"{}",
}
FOR_AN_HOUR = "max-age=3600"
SELDOM_NEW = ("/icon.svg", "/stead.webmanifest")
FOR_EVER = "public, max-age=31536000, immutable"


def lay(folder: Path, files: Mapping[str, bytes] = FILES) -> Path:
    """A folder as the build leaves it, with some of what it must not leave."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def page(tmp_path: Path) -> Path:
    (tmp_path / "beside.js").write_bytes(b"not served")
    return lay(tmp_path / "static")


@pytest.fixture
async def door(home: Home, page: Path) -> AsyncIterator[Door]:
    async with open_door(home, page=page) as opened:
        yield opened


async def get(door: Door, path: str, *, method: str = "GET", **headers: str) -> httpx2.Response:
    """One request at the page's own name, without a credential."""
    async with door.client({"Host": door.page_host, "Accept-Encoding": "", **headers}) as client:
        return await client.request(method, path)


async def raw(door: Door, target: str, method: str = "GET") -> tuple[int, bytes]:
    """One request whose target goes over the wire exactly as it is written here."""
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
    head = f"{method} {target} HTTP/1.1\r\nHost: {door.page_host}\r\nConnection: close\r\n\r\n"
    async with asyncio.timeout(DEADLINE_S):
        writer.write(head.encode("latin-1"))
        answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return int(answer.split(b" ", 2)[1]), answer.partition(b"\r\n\r\n")[2]


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/index.html", "text/html; charset=utf-8"),
        ("/icon.svg", "image/svg+xml"),
        ("/stead.webmanifest", "application/manifest+json"),
        ("/assets/index-Ab12Cd34.js", "text/javascript; charset=utf-8"),
        ("/assets/worker-Ab12Cd34.mjs", "text/javascript; charset=utf-8"),
        ("/assets/index-Ef56Gh78.css", "text/css; charset=utf-8"),
        ("/assets/inter-Ij90Kl12.woff2", "font/woff2"),
        ("/assets/parse-Mn34Op56.wasm", "application/wasm"),
    ],
)
async def test_a_file_has_its_own_media_type_and_its_own_content(door: Door, path: str, media_type: str) -> None:
    answer = await get(door, path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == media_type
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.content == FILES[path[1:] or "index.html"]
    kept = FOR_EVER if path.startswith("/assets/") else FOR_AN_HOUR if path in SELDOM_NEW else "no-cache"
    assert answer.headers["cache-control"] == kept


async def test_whoever_accepts_gzip_is_sent_what_the_build_compressed(door: Door) -> None:
    for accepted, zipped in (("gzip, br", True), ("br, *;q=0.1", True), ("br", False), ("gzip;q=0, *", False)):
        headers = {"Host": door.page_host, "Accept-Encoding": accepted}
        async with door.client(headers) as client, client.stream("GET", "/assets/index-Ab12Cd34.js") as answer:
            body = b"".join([part async for part in answer.aiter_raw()])
        assert answer.headers["vary"] == "accept-encoding", accepted
        assert answer.headers.get("content-encoding") == ("gzip" if zipped else None), accepted
        assert body == (ZIPPED if zipped else SCRIPT), accepted
        assert int(answer.headers["content-length"]) == len(body)
        assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert zlib.decompress(ZIPPED, wbits=31) == SCRIPT


async def test_a_file_without_a_compressed_one_beside_it_is_sent_as_it_is(door: Door) -> None:
    answer = await get(door, "/assets/index-Ef56Gh78.css", **{"Accept-Encoding": "gzip"})
    assert (answer.status_code, answer.content) == (200, b"body{}")
    assert "content-encoding" not in answer.headers


@pytest.mark.parametrize(
    ("header", "taken"),
    [
        ("", False),
        ("gzip", True),
        ("GZIP", True),
        ("br;q=1.0, gzip;q=0.8", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("gzip;q=0.001", True),
        ("*", True),
        ("*;q=0", False),
        ("identity", False),
        ("gzipped, x", False),
        (";;,=,q=,", False),
    ],
)
def test_accept_encoding_is_read_by_its_weights(header: str, taken: bool) -> None:
    assert takes_gzip(header) is taken


async def test_the_index_is_asked_for_anew_and_sent_only_when_it_changed(door: Door) -> None:
    etag = (await get(door, "/")).headers["etag"]
    for known in (etag, f'"other", {etag}', f"W/{etag}", "*"):
        same = await get(door, "/", **{"If-None-Match": known})
        assert (same.status_code, same.content) == (304, b""), known
        assert same.headers["etag"] == etag
        assert same.headers["cache-control"] == "no-cache"
    assert (await get(door, "/", **{"If-None-Match": '"other"'})).status_code == 200


async def test_a_head_request_says_what_a_get_would_send(door: Door) -> None:
    for path in ("/", "/assets/index-Ab12Cd34.js", "/sessions/s_1"):
        answer = await get(door, path, method="HEAD")
        assert (answer.status_code, answer.content) == (200, b"")
        assert int(answer.headers["content-length"]) == len((await get(door, path)).content)


@pytest.mark.parametrize("path", ["/objectives", "/sessions/s_00000000000000d1/files", "/audit/", "/grüße", "/a%20b"])
async def test_a_link_into_the_page_opens_it(door: Door, path: str) -> None:
    answer = await get(door, path)
    assert (answer.status_code, answer.content) == (200, INDEX)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    "path",
    [
        "/assets/index-Zz99Zz99.js",
        "/assets/index",
        "/assets/",
        "/assets/index-Ab12Cd34.js/",
        "/assets/index-Ab12Cd34.js.map",
        "/assets/index-Ab12Cd34.js.gz",
        "/assets/.hidden",
        "/.vite/manifest.json",
        "/beside.js",
        "/favicon.ico",
        "/sessions/app.py",
        "/index.html/x.js",
        "/icon.svg/",
        "/api.js/../index.html",
        "/nowhere.html",
        "/%2e%2e/beside.js",
        "/..%2fbeside.js",
        "/..%2f..%2fstatic%2findex.html",
        "/assets/..%2f..%2fbeside.js",
        "/assets/%2e%2e/index.html",
        "/assets/%2e%2e%5c%2e%2e%5cbeside.js",
        "/..\\beside.js",
        "/%5c..%5cbeside",
        "/assets\\index-Ab12Cd34.js",
        "/index.html%00",
        "/index.html%00.js",
        "/%00",
        "/a%0d%0ab",
        "/%e2%80%aegnp",
        "//",
        "//index.html",
        "//127.0.0.1/",
        "/a//b",
        "/./",
        "/..",
        "/../auth",
        "/a/%2e%2e/b",
        "/./a",
        "/a%5cb",
        "/a\\b",
        "/../auth.py",
        "/%252e%252e/beside.js",
        "/x." + "y" * 300 + ".js",
        "/" + "x" * 300 + ".js",
        "/" + "x" * 2100,
        "/" + "a/" * 1500,
    ],
)
async def test_whatever_else_is_asked_for_is_not_found(door: Door, path: str) -> None:
    status, body = await raw(door, path)
    assert status == 404, path[:80]
    assert json.loads(body)["error"]["code"] == "not_found"


async def test_an_answer_that_there_is_nothing_is_not_kept(door: Door) -> None:
    """A tab may ask for a file in the moment in which the page is built anew."""
    assert (await get(door, "/assets/index-Zz99Zz99.js")).headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/api/v2/status", "/api/", "/api"])
async def test_an_unknown_part_of_the_api_is_no_view_of_the_page(door: Door, path: str) -> None:
    async with door.browser(await door.sign_in()) as client:
        answer = await client.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PROPFIND"])
async def test_files_are_only_read(door: Door, method: str) -> None:
    for path in ("/", "/objectives", "/assets/index-Ab12Cd34.js"):
        answer = await get(door, path, method=method, Origin=door.page)
        assert answer.status_code == 405
        assert answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", ["/", "/objectives", "/assets/index-Ab12Cd34.js"])
async def test_the_page_is_the_page_hosts_alone(door: Door, path: str) -> None:
    assert (await get(door, path, Host=f"rebound.example.com:{door.port}")).status_code == 421
    assert (await get(door, path, Host=f"localhost:{door.port}")).status_code == 421
    assert (await get(door, path, Host=door.api_host)).status_code == 404


async def test_a_page_that_is_built_anew_is_served_at_once_and_named_by_another_build(door: Door, page: Path) -> None:
    cookie = await door.sign_in()

    async def builds() -> tuple[str, str]:
        async with door.browser(cookie) as client, door.socket("?after=0", cookie=cookie) as socket:
            (hello,) = json.loads(await socket.recv())
            return hello["body"]["build"], (await client.get("/api/v1/status")).json()["build"]

    first, told = await builds()
    assert first == told
    assert first.startswith("test+")
    assert (await builds())[0] == first
    lay(page, {"index.html": INDEX.replace(b"Ab12Cd34", b"Qr78St90"), "assets/index-Qr78St90.js": b"2"})
    (page / "assets/index-Ab12Cd34.js").unlink()
    assert b"Qr78St90" in (await get(door, "/")).content
    assert (await get(door, "/assets/index-Qr78St90.js")).content == b"2"
    assert (await get(door, "/assets/index-Ab12Cd34.js")).status_code == 404
    second, told = await builds()
    assert second == told != first


async def test_without_a_built_page_the_daemon_serves_all_else_and_says_what_to_do(home: Home, tmp_path: Path) -> None:
    async with open_door(home, page=tmp_path / "nothing") as door:
        for path in ("/", "/objectives"):
            answer = await get(door, path)
            assert answer.status_code == 503
            assert answer.headers["content-type"] == "text/html; charset=utf-8"
            assert answer.headers["cache-control"] == "no-store"
            assert "make ui" in answer.text
        assert (await get(door, "/assets/index-Ab12Cd34.js")).status_code == 404
        async with door.cli() as cli:
            status = await cli.get("/api/v1/status")
            assert status.status_code == 200
            assert status.json()["build"] != ""


def test_a_build_is_named_by_its_content(tmp_path: Path) -> None:
    one, two, three = (lay(tmp_path / name) for name in "abc")
    (three / "index.html").write_bytes(INDEX + b"\n")
    assert len(Pages(one).build()) == 12
    assert Pages(one).build() == Pages(two).build() != Pages(three).build()
    assert Pages(tmp_path).build() == ""


def test_what_could_run_elsewhere_is_not_served() -> None:
    assert not {".map", ".gz", ".py", ".ts", ".tsx", ".sh", ".pdf"} & MEDIA_TYPES.keys()
