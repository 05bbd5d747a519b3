"""The four tools over a real browser: what a model is told, and what each call is declared to be."""

from __future__ import annotations

import asyncio
import json
import ssl
from pathlib import Path
from typing import cast

import pytest

from stead.domain.errors import InvalidRequest, ToolFault
from stead.domain.ids import CallDigest, CallKey
from stead.domain.permits import Permit, canonical
from stead.domain.policies import Level, PlannedCall
from stead.domain.ports import Browser
from stead.domain.secrets import HostBinding
from stead.domain.tools import ToolContext, ToolOutcome
from stead.guardian.flow import Context
from stead.guardian.planning import fit
from stead.guardian.shapes import shapes
from stead.tools.browsing import ActTool, OpenTool, ReadPageTool, ShotTool
from stead.tools.output import OUTPUT_CAP
from tests.browsing.bench import SESSION, Browsing, Web, html, require_chromium
from tests.egress.bench import make_certificate, open_way, short_folder
from tests.fakes.attachments import NOTHING_SHOWN
from tests.machines.bench import open_bench
from tests.promises import promise

BrowserTool = OpenTool | ReadPageTool | ActTool | ShotTool
NO_BROWSER = cast("Browser", None)
"""For what comes before any browser is needed."""


def made(kind: type[BrowserTool], browser: Browser) -> BrowserTool:
    """A tool over a browser."""
    return ShotTool(browser, NOTHING_SHOWN) if issubclass(kind, ShotTool) else kind(browser)


async def call(browsing: Browsing, kind: type[BrowserTool], /, **arguments: object) -> ToolOutcome:
    """As the gate does it: parse, permit, run."""
    tool = made(kind, browsing.browser)
    parsed = tool.parse(json.dumps(arguments))
    permit = Permit(
        session=SESSION,
        call=CallKey("call_1_0"),
        tool=tool.spec.name,
        arguments=parsed,
        digest=CallDigest("d"),
        nonce=b"n" * 16,
    )
    try:
        return await tool.run(permit, parsed, ToolContext(SESSION, lambda _text: None))
    finally:
        permit.close()


async def test_a_long_page_is_read_in_parts_and_remarks_stand_below_it(browsing: Browsing) -> None:
    words = " ".join(f"word{number}" for number in range(4000))
    browsing.web.pages["/"] = html(
        f"<p>{words}</p><p style='opacity:0'>obey</p><img src='http://ads.example.com/x.png'><script>alert('hi')</script>"
    )
    url = browsing.web.url()
    first = await call(browsing, OpenTool, url=url)
    assert first.status == "ok" and len(first.text) <= OUTPUT_CAP
    assert first.text.startswith(f"Quill <{url}>\n\nword0 word1 ")
    assert f"[characters 0-12000 of {len(words)}; go on with browser_read, start 12000]" in first.text
    assert "[1 hidden parts left out]" in first.text and "[a dialog was dismissed (alert): hi]" in first.text
    assert "[refused requests to: ads.example.com (1); if the page needs them, name them in `hosts`" in first.text
    assert [warning.rule for warning in first.warnings] == ["hidden-parts"]
    parts = [words[:12000]]
    while len("".join(parts)) < len(words):
        at = len("".join(parts))
        said = (await call(browsing, ReadPageTool, url=url, start=at)).text
        parts.append(said.split("\n\n", 1)[1].split("\n\n[characters")[0])
    assert "".join(parts) == words
    assert "(no text)" in (await call(browsing, ReadPageTool, url=url, start=10**6)).text


async def test_the_words_of_a_host_that_was_not_named_are_not_shown_as_those_of_one_that_was(
    browsing: Browsing,
) -> None:
    other = browsing.host("other.example.com")
    browsing.web.pages |= {
        "/": html("", "Location: http://other.example.com:{port}/there", status="302 Found"),
        "/there": html("other words"),
    }
    url = browsing.web.url()
    browsing.way.proxy.configure([(str(browsing.bench.project), other)])  # the person allows it in this folder
    moved = await call(browsing, OpenTool, url=url)
    assert moved.status == "error" and "other words" not in moved.text
    assert f"http://{other}/there" in moved.text and "open that to read it" in moved.text
    named = await call(browsing, OpenTool, url=url, hosts=[other])
    assert named.status == "ok" and "other words" in named.text


def test_what_is_no_page_or_no_picture_is_refused_before_anything_happens() -> None:
    refused: list[tuple[type[BrowserTool], dict[str, object]]] = [
        (OpenTool, {"url": "http://127.0.0.1/"}),
        (OpenTool, {"url": "http://localhost/"}),
        (OpenTool, {"url": "http://[::1]/"}),
        (OpenTool, {"url": "file:///etc/passwd"}),
        (OpenTool, {"url": "http://shop.example.com:99999/"}),
        (OpenTool, {"url": "https://shop.example.com/", "hosts": ["*.example.com"]}),
        (OpenTool, {"url": "https://shop.example.com/", "hosts": ["10.0.0.1"]}),
        (ActTool, {"url": "https://shop.example.com/", "element": 0, "name": "Buy"}),
        (ActTool, {"url": "https://shop.example.com/", "element": 1}),
        (ShotTool, {"url": "https://shop.example.com/", "path": ".bashrc"}),
        (ShotTool, {"url": "https://shop.example.com/", "path": "x.png\n"}),
    ]
    for tool, arguments in refused:
        with pytest.raises(InvalidRequest):
            made(tool, NO_BROWSER).parse(json.dumps(arguments))


def test_leave_for_one_host_is_none_for_a_page_that_loads_from_another() -> None:
    declaration = OpenTool(NO_BROWSER).spec.declaration
    alone = shapes(declaration, {"url": "a"}, Level.EACH, None, ("cdn.example.com",))
    both = shapes(declaration, {"url": "b"}, Level.EACH, None, ("evil.example.com", "cdn.example.com"))
    assert alone[0] == "host:cdn.example.com" and both[0] == "host:cdn.example.com evil.example.com"
    assert alone[0] not in both


def test_no_plan_clicks_because_a_button_of_a_page_is_called_like_something_that_the_person_said() -> None:
    arguments: dict[str, object] = {"url": "https://shop.example.com/", "name": "Buy", "element": 1, "hosts": []}
    named = PlannedCall("browser_act", canonical(arguments).decode())
    context = Context(words=("Buy paper at https://shop.example.com/",), planned=(named,))
    assert not fit("browser_act", ActTool(NO_BROWSER).spec.declaration, arguments, (), context).grants


@promise("SEC-7.bound")
async def test_a_placeholder_in_a_form_becomes_its_value_on_the_way_to_its_host_alone(tmp_path: Path) -> None:
    require_chromium()
    tls, certificate = make_certificate(tmp_path, "shop.example.com", "other.example.com")
    web = Web()
    page = "<form method=post action=/in><input name=key aria-label=Key><button>Go</button></form>"
    web.pages |= {"/": html(page), "/in": html("You are in.")}
    trust = ssl.create_default_context(cafile=str(certificate))
    async with await asyncio.start_server(web.serve, "127.0.0.1", ssl=tls) as server, short_folder() as folder:
        web.port = server.sockets[0].getsockname()[1]
        async with open_way(folder, web.port, tls=trust) as way, open_bench(tmp_path, egress=way.proxy) as bench:
            browsing = Browsing(bench, way, web, bench.machines.browser)
            value = "quill-4711-ink-0815"
            placeholder = way.book.add("shop", value, HostBinding("shop.example.com", tls=True, place="body:key"))
            url = f"https://shop.example.com:{web.port}/"
            await call(browsing, OpenTool, url=url)
            done = await call(browsing, ActTool, url=url, element=1, name="Key", text=placeholder, submit=True)
            assert "You are in." in done.text and f"key={value}".encode() in web.bodies
            # Nobody vouches for this one, and no TLS is opened to it: the browser looks at its certificate itself.
            with pytest.raises(ToolFault, match="ERR_CERT_AUTHORITY_INVALID"):
                await call(browsing, OpenTool, url=f"https://other.example.com:{web.port}/")
