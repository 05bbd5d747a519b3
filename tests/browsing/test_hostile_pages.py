"""Pages that want out, want more, or never end: what they reach, and what becomes of the browser."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Sequence
from pathlib import Path

import pytest

from stead.domain.errors import ToolFault
from tests.browsing.bench import Browsing, Web, html
from tests.machines.bench import live_permit, until
from tests.promises import promise

WAYS = """<pre id=said></pre><script>
const said = document.getElementById("said"), note = (what, how) => { said.textContent += what + "=" + how + "\\n"; };
const ways = [
  "http://169.254.169.254/latest/", "http://[fd00:ec2::254]/", "http://localhost:PORT/canary",
  "http://127.0.0.1:PORT/canary", "http://127.0.0.1:3128/", "http://[::1]:PORT/canary", "http://10.0.0.1/",
  "http://0.0.0.0:PORT/canary", "http://2130706433:PORT/canary", "http://rebound.example.com:PORT/canary",
  "http://printer.local/", "file:///etc/passwd", "file:///proc/self/environ", "ftp://shop.example.com/",
  "chrome://version", "https://93.184.216.34/"];
Promise.all(ways.map((url) => fetch(url, {mode: "no-cors"}).then((r) => r.text()).then(
  (text) => note(url, text.length ? "read" : "opaque"), () => note(url, "closed")))).then(() => {
    for (const url of ways.slice(11, 15)) {
      const frame = document.createElement("iframe");
      frame.src = url;
      document.body.append(frame);
    }
    const link = new WebSocket("ws://127.0.0.1:PORT/canary");
    link.onopen = () => note("socket", "open");
    link.onerror = () => note("socket", "closed");
    const peer = new RTCPeerConnection({iceServers: [{urls: "stun:127.0.0.1:UDP"},
      {urls: "stun:shop.example.com:UDP"}]});
    peer.createDataChannel("x");
    peer.onicecandidate = (e) => note("rtc", e.candidate && e.candidate.address ? e.candidate.address : "none");
    peer.createOffer().then((offer) => peer.setLocalDescription(offer));
    try { navigator.sendBeacon("http://127.0.0.1:PORT/canary", "x"); } catch {}
    try { location = "file:///etc/passwd"; } catch { note("move", "closed"); }
    new Image().src = "http://canary.invalid:PORT/x.png";
  });
</script>"""


@promise("SEC-6.network")
async def test_no_page_gets_out_but_to_the_hosts_of_its_call(browsing: Browsing) -> None:
    canary = Web()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        udp.setblocking(False)
        async with await asyncio.start_server(canary.serve, "127.0.0.1") as server:
            port = str(server.sockets[0].getsockname()[1])
            browsing.way.names.answers["rebound.example.com"] = [["127.0.0.1"]]
            page = WAYS.replace("PORT", port).replace("UDP", str(udp.getsockname()[1]))
            browsing.web.pages["/"] = html(page)
            await browsing.open("/")
            text = ""
            for _ in range(10):
                text = (await browsing.read("/")).text
                if "socket=" in text:
                    break
        assert (text.count("=closed") == 17 and "=read" not in text and "=opaque" in text) or "=closed" in text, text
        assert "=read" not in text and "socket=closed" in text and "root:" not in text
        assert canary.asked == []
        with pytest.raises(BlockingIOError):
            udp.recv(100)
    addresses = re.findall(r"^rtc=(.*)$", text, re.MULTILINE)
    assert not [one for one in addresses if re.match(r"\d+\.", one)], addresses  # no address of this computer
    hosts = {event.host for event in browsing.way.events if event.verdict == "allow"}
    assert hosts == {"shop.example.com"}


async def test_only_pages_of_the_web_are_opened(browsing: Browsing) -> None:
    urls: Sequence[str] = (
        *("file:///etc/passwd", "chrome://crash", "chrome://version", "about:blank", "data:text/html,x"),
        *("javascript:1", "view-source:http://shop.example.com/", "devtools://devtools/bundled/inspector.html"),
        *("blob:http://shop.example.com/1", "filesystem:http://shop.example.com/", "HTTP://x.example.com/", ""),
    )
    for url in urls:
        permit = live_permit()
        with pytest.raises(ToolFault, match="only http and https"):
            await browsing.browser.open(permit, url, [])
        permit.close()
    assert browsing.web.asked == [] and browsing.way.events == []


async def test_dialogs_windows_and_downloads_are_refused_and_told(browsing: Browsing) -> None:
    browsing.web.pages |= {
        "/": html(
            "<script>alert('you won'); document.title = confirm('pay?') + ' ' + prompt('pin');"
            "for (let n = 0; n < 30; n++) alert(n)</script>"
            "<button onclick=\"window.open('/pop')\">Pop</button><a href=/other target=_blank>Blank</a>"
            "<a href=/file download=x>File</a><a href=/zip>Zip</a>"
            "<script>onbeforeunload = (event) => { event.preventDefault(); return 'stay' }</script>"
        ),
        "/zip": b"HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\nContent-Disposition: attachment\r\n"
        b"Content-Length: 4\r\n\r\nPK12",
        "/file": b"HTTP/1.1 200 OK\r\nContent-Type: application/x-sh\r\nContent-Length: 2\r\n\r\nid",
        "/done": html("left"),
    }
    shown = await browsing.open("/")
    assert shown.title == "false null" and len(shown.notes) == 10
    assert shown.notes[0] == "a dialog was dismissed (alert): you won"
    popped = await browsing.act("/", 1, "Pop")
    assert popped.notes == (f"a new window was refused: {browsing.web.url('/pop')}",)
    blank = await browsing.act("/", 2, "Blank")
    assert any(browsing.web.url("/other") in note for note in blank.notes), blank
    assert not any(path.endswith(("/pop", "/other")) for path in browsing.web.asked)
    for element, name in ((3, "File"), (4, "Zip")):
        loaded = await browsing.act("/", element, name)
        assert any("a download was refused" in note for note in loaded.notes), loaded
    with pytest.raises(ToolFault, match="a download was refused"):
        await browsing.open("/zip")
    assert (await browsing.open("/done")).text == "left"


async def test_a_page_that_is_endless_huge_or_deep_is_read_as_far_as_it_goes(hasty: Browsing) -> None:
    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>begun</p>")
        while True:
            writer.write(b"<p>more</p>" * 10)
            await writer.drain()
            await asyncio.sleep(0.05)

    hasty.web.pages |= {
        "/endless": endless,
        "/long": html("<script>document.write('<p>' + 'word '.repeat(4e5) + '</p>')</script>"),
        "/wide": html("<script>document.write('<b>x</b>'.repeat(60000))</script>"),
        "/deep": html("<script>document.write('<div>'.repeat(20000) + 'x')</script>"),
        "/links": html("<script>document.write('<a href=/x>y</a> '.repeat(9000))</script>"),
    }
    shown = await hasty.open("/endless")
    assert shown.text.startswith("begun\n\nmore") and "still loading" in shown.notes[0]
    shown = await hasty.open("/long")
    assert len(shown.text) == 400_000 and "longer than what can be read" in shown.notes[0]
    for path in ("/wide", "/deep", "/links"):
        assert len((await hasty.open(path)).text) <= 400_000


async def test_a_page_that_hangs_crashes_or_leaves_ends_the_browser_and_the_next_one_has_another(
    hasty: Browsing,
) -> None:
    hasty.web.pages |= {
        "/hang": html("<script>while (true);</script>"),
        "/memory": html(
            "<script>const kept = []; setTimeout(() => { while (true) kept.push(new Array(1e5).fill(0).map(String)); })"
            "</script>"
        ),
        "/": html("still here"),
    }
    for path in ("/hang", "/memory"):
        with pytest.raises(ToolFault, match="the browser was closed"):
            await hasty.open(path)
            await hasty.read(path)
        with pytest.raises(ToolFault, match="open one first"):
            await hasty.read(path)
    hasty.web.pages["/leave"] = html("<button onclick='window.close()'>Leave</button>")
    await hasty.open("/leave")
    try:
        await hasty.act("/leave", 1, "Leave")
    except ToolFault as fault:
        assert "closed itself" in str(fault)
    assert (await hasty.open("/")).text == "still here"


@promise("SEC-6.network")
async def test_who_takes_the_browser_over_is_in_an_empty_room(browsing: Browsing) -> None:
    (browsing.bench.project / "secret.txt").write_text("canary")
    browsing.web.pages["/"] = html("here")
    await browsing.open("/")
    await until(lambda: len(browsing.processes()) >= 3)
    for pid in browsing.processes():
        proc = Path(f"/proc/{pid}")
        mounts = (proc / "mountinfo").read_text("utf-8")
        assert str(browsing.bench.project) not in mounts and " /work " not in mounts
        status = dict(
            line.split(":\t", 1) for line in (proc / "status").read_text("utf-8").splitlines() if ":\t" in line
        )
        assert status["Seccomp"] == "2" and status["NoNewPrivs"] == "1"
        assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0
        assert int(status["Uid"].split()[0]) != 0
        routes = (proc / "net" / "route").read_text("utf-8").splitlines()
        assert len(routes) == 1, routes
        assert (proc / "net" / "dev").read_text("utf-8").count(":") == 1  # lo, and nothing else
        environment = (proc / "environ").read_bytes()
        assert b"STEAD" not in environment and b"KEY" not in environment
