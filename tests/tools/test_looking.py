"""What schedules watch on the network, over real sockets: what a look finds, and how everything hostile is bounded."""

from __future__ import annotations

import asyncio
import gzip
import time
import tracemalloc
from pathlib import Path

import pytest

from stead.domain.errors import FetchFault, ToolFault
from stead.domain.watches import CalendarWatch, CommandWatch, FeedWatch, HttpWatch, Look, Place, PortWatch, Watch
from stead.guardian.reach import Reach
from stead.machines.file_looks import HostFileLooks
from stead.net.dialing import Dialer
from stead.runtime.calendars import CalendarEvents
from stead.tools import looking
from stead.tools.feeds import read_feed
from stead.tools.looking import SourceLooks
from tests.ics import calendar, event
from tests.machines.bench import open_bench, require_sandbox
from tests.tools.test_fetch import Site, response, site

RSS = b"""<?xml version="1.0"?><rss version="2.0"><channel><title>Pears</title>
<item><title>A &amp; B</title><link>https://example.com/1</link><guid>one</guid></item>
<item><title>No id</title><link>https://example.com/2</link></item>
<item><description>nothing that names it</description></item></channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>tag:1</id><title>First</title>
<link rel="alternate" href="https://example.com/a"/><content><title>inner</title></content></entry></feed>"""
BOMB = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><rss><item><title>&b;</title></item></rss>'
OUTSIDE = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><rss><item><guid>&a;</guid></item></rss>'
NO_PLACE = Place("/nowhere")


def looks(at: Site | None = None) -> SourceLooks:
    nothing: object = None  # no command is run
    return SourceLooks(Dialer(at.reach if at else Reach()), nothing, HostFileLooks(), CalendarEvents(), lambda _: "")  # type: ignore[arg-type]


async def seen(watch: Watch, at: Site | None = None) -> Look:
    return await looks(at).look(watch, NO_PLACE)


async def test_an_address_is_asked_whether_it_is_as_before_and_only_its_body_counts() -> None:
    bodies = [b"pears", b"plums"]

    async def answers(path: str, writer: asyncio.StreamWriter) -> None:
        if 'If-None-Match: "1"' in served.requests[-1]:
            writer.write(b"HTTP/1.1 304 Not Modified\r\n\r\n")
        else:
            count = len(served.requests)
            writer.write(response(bodies[0], "image/png", extra=f'ETag: "{count}"\r\nDate: {count}\r\n'))

    async with site(answers) as served:
        here = looks(served)
        first = await here.look(HttpWatch(served.url()), NO_PLACE)
        assert await here.look(HttpWatch(served.url()), NO_PLACE) == first
        assert len(served.requests) == 2 and "If-None-Match" in served.requests[1]
        bodies.pop(0)
        assert (await looks(served).look(HttpWatch(served.url()), NO_PLACE)).value != first.value


@pytest.mark.parametrize(
    ("feed", "said"),
    [
        (RSS, ["- A & B https://example.com/1", "- No id https://example.com/2"]),
        (ATOM, ["- First https://example.com/a"]),
        (b"<rss><channel/></rss>", []),
    ],
)
def test_entries_of_a_feed_are_known_by_their_ids(feed: bytes, said: list[str]) -> None:
    assert list(read_feed(feed, "x").values()) == said


@pytest.mark.parametrize(
    "feed",
    [BOMB, OUTSIDE, b"<rss>", b"\xff\xfe\xff", b"", b"<a>" * 100_000, b"<rss>" + b"<a b='c'/>" * 10 + b"</atom>"],
)
def test_a_feed_that_could_expand_or_is_none_is_refused(feed: bytes) -> None:
    with pytest.raises(FetchFault, match="is no feed"):
        read_feed(feed, "x")


def test_a_feed_of_very_many_or_very_long_entries_is_cut() -> None:
    many = b"<rss>" + b"".join(b"<item><guid>%d</guid></item>" % n for n in range(50_000)) + b"</rss>"
    assert len(read_feed(many, "x")) == 1_000
    (long,) = read_feed(b"<rss><item><title>" + b"x" * 1_000_000 + b"</title></item></rss>", "x").values()
    assert len(long) < 300


@pytest.mark.parametrize("kind", [HttpWatch, FeedWatch])
@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://10.0.0.1/", "http://169.254.169.254/latest/", "http://[::1]/", "http://localhost/",
        "file:///etc/passwd", "ftp://example.com/", "http://user:word@example.com/", "http://2130706433/",
        "http://example.com:22/",
    ],
)  # fmt: skip
async def test_what_the_fetch_tool_does_not_reach_is_not_watched_either(
    kind: type[HttpWatch] | type[FeedWatch], url: str
) -> None:
    with pytest.raises(FetchFault):
        await seen(kind(url))


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 80), ("192.168.1.1", 443), ("localhost", 80), ("e.com", 22)])
async def test_no_port_of_this_host_its_networks_or_for_other_uses_is_tried(host: str, port: int) -> None:
    with pytest.raises(FetchFault):
        await seen(PortWatch(host, port))


async def test_a_calendar_is_fetched_by_the_same_rules_and_a_link_out_of_the_folder_is_not_read(tmp_path: Path) -> None:
    pears = calendar(event("pears", "20990301T090000Z", "SUMMARY:Pears")).encode()
    async with site(response(pears)) as served:
        look = await seen(CalendarWatch(served.url("/team.ics")), served)
    assert [*look.words.values()] == ["2099-03-01 09:00:00+00:00 Pears"]
    with pytest.raises(FetchFault):
        await seen(CalendarWatch("http://127.0.0.1/team.ics"))
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "other.ics").write_bytes(pears)
    (folder / "team.ics").symlink_to(tmp_path / "other.ics")
    with pytest.raises(ToolFault, match="not in"):
        await looks().look(CalendarWatch("team.ics"), Place(str(folder)))
    (folder / "bad.ics").write_bytes(b"BEGIN:VCALENDAR" * 1000)
    with pytest.raises(ToolFault, match="no iCalendar file"):
        await looks().look(CalendarWatch("bad.ics"), Place(str(folder)))


async def test_a_port_is_open_or_closed() -> None:
    async with site(b"") as served:
        there = PortWatch("127.0.0.1", served.port)
        assert (await seen(there, served)).value == "open"
    assert (await seen(there, served)).value == "closed"


async def test_a_redirect_to_a_private_address_or_another_host_is_not_followed() -> None:
    for location in ("http://10.0.0.1/", "http://169.254.169.254/", "https://example.com/", "//evil.example.com/"):
        moved = f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()
        async with site(moved) as served:
            with pytest.raises(FetchFault, match="redirects"):
                await seen(HttpWatch(served.url()), served)


async def test_an_endless_body_and_a_zip_bomb_are_cut_in_time_and_memory() -> None:
    bomb = gzip.compress(b"\0" * 300_000_000, 9)

    async def endless(path: str, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while True:
            writer.write(b"x" * 65_536)
            await writer.drain()

    for handler in (endless, response(bomb, extra="Content-Encoding: gzip\r\n")):
        async with site(handler) as served:
            tracemalloc.start()
            began_s = time.monotonic()
            assert (await seen(HttpWatch(served.url()), served)).value
            assert tracemalloc.get_traced_memory()[1] < 30_000_000 and time.monotonic() - began_s < 10
            tracemalloc.stop()


async def test_a_source_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "TIME_LIMIT_S", 0.5)
    forever = asyncio.Event()

    async def drips(path: str, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nx")
        await writer.drain()
        await forever.wait()

    async with site(drips) as served:
        with pytest.raises(FetchFault, match=r"did not answer within 0\.5 s"):
            await seen(HttpWatch(served.url()), served)
        forever.set()


async def test_a_command_runs_in_a_machine_where_it_changes_nothing_and_reaches_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_sandbox()
    async with open_bench(tmp_path) as bench:
        here = SourceLooks(Dialer(Reach()), bench.machines.programs, HostFileLooks(), CalendarEvents(), lambda _: "")
        place = Place(str(bench.project))

        async def run(line: str) -> Look:
            return await here.look(CommandWatch(line), place)

        (bench.project / "inbox.md").write_text("pears")
        first = await run("cat inbox.md")
        assert "pears" in first.words[""] and first == await run("cat inbox.md")
        assert (await run("true")).value != (await run("false")).value, "how it ends counts"
        out = await run("echo no > inbox.md; rm -rf ./*; id -u > /tmp/x; cat /etc/shadow; exec 3<>/dev/tcp/1.1.1.1/80")
        assert (bench.project / "inbox.md").read_text() == "pears" and "root:" not in out.words[""]
        for line, said in (("yes", "printed more than"), ("kill -9 -1; kill -9 $PPID; sleep 60", "its end|end within")):
            monkeypatch.setattr(looking, "COMMAND_LIMIT_S", 20)
            with pytest.raises(ToolFault, match=said):
                await run(line)
        monkeypatch.setattr(looking, "COMMAND_LIMIT_S", 0.5)
        with pytest.raises(ToolFault, match="did not end within"):
            await run("sleep 600")
        assert not bench.machines.programs.sessions, "nothing is left behind"
