"""Services in a real machine: how many there may be, what they see, where what they change goes."""

from __future__ import annotations

import asyncio

import pytest

from stead.domain.errors import Conflict, PermitRefused, ToolFault
from stead.domain.services import MOST, ServiceLog
from tests.machines.bench import SESSION, Bench, fresh_permit, live_permit, until


async def started(bench: Bench, name: str, command: str) -> ServiceLog:
    seen, _ = await bench.machines.services.start(live_permit(), name, command)
    return seen


async def test_one_without_a_permit_does_not_start(bench: Bench) -> None:
    with pytest.raises(PermitRefused):
        await bench.machines.services.start(fresh_permit(), "web", "true")


async def test_more_than_so_many_are_refused_and_those_that_ended_give_way(bench: Bench) -> None:
    services = bench.machines.services
    listen = "python3 -c 'import socket,time; s=socket.create_server((\"127.0.0.1\",0)); time.sleep(999)'"
    await started(bench, "over", "true")
    for number in range(MOST):
        await started(bench, f"s{number}", listen)
    assert [row.name for row in await services.rows(SESSION)] == [f"s{number}" for number in range(MOST)]
    with pytest.raises(ToolFault, match="8 services are running; stop one first"):
        await started(bench, "more", listen)
    await services.stop(SESSION, "s3")
    assert (await started(bench, "more", listen)).service.status == "running"


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0", "::1", "::"])
async def test_it_is_found_wherever_it_listens_in_its_machine(bench: Bench, address: str) -> None:
    services = bench.machines.services
    seen = await started(bench, "web", f"python3 -m http.server 8123 --bind {address}")
    assert seen.service.ports == (8123,)
    assert (await services.preview(SESSION, "web", 0)).url
    made = await services._dial(SESSION, seen.service.id, 8123)
    assert made
    made.close()


async def test_one_that_listens_nowhere_has_no_preview(bench: Bench) -> None:
    seen = await started(bench, "nap", "exec sleep 999")
    assert (seen.service.status, seen.service.ports) == ("running", ())
    with pytest.raises(Conflict, match="accepts no connections"):
        await bench.machines.services.preview(SESSION, "nap", 0)


async def test_what_it_changes_lands_while_it_runs_and_when_it_is_stopped(bench: Bench) -> None:
    serve = "echo first > first; python3 -m http.server 8123; true"
    await started(bench, "web", f"while ! test -e second; do sleep 0.1; done & {serve}")
    first = bench.project / "first"
    await until(lambda: first.exists() and first.read_text() == "first\n", 30)
    await started(bench, "late", "echo last > last; exec sleep 999")
    _, landing = await bench.machines.services.stop(SESSION, "late")
    assert bench.tree()["last"] == "last\n", landing


async def test_it_sees_what_is_written_while_it_runs(bench: Bench) -> None:
    await started(bench, "watch", "python3 -m http.server 8123")
    await bench.machines.write(live_permit(), "news.txt", "fresh")
    async with asyncio.timeout(10):
        while "fresh" not in (await bench.run("curl -s http://127.0.0.1:8123/news.txt")).output:
            continue


async def test_a_session_that_rests_keeps_it_and_one_that_may_change_nothing_too(bench: Bench) -> None:
    bench.bind(writable=False)
    await started(bench, "web", "exec python3 -m http.server 8123")
    assert not await bench.machines.kill(SESSION, resting=True)
    assert [row.status for row in await bench.machines.services.rows(SESSION)] == ["running"]
