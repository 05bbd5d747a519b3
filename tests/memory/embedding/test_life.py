"""The worker's life: what it has, how it ends, and that no end of it keeps a caller waiting or goes unsaid."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stead.domain.embedding import BATCH
from stead.domain.errors import EmbeddingFault
from stead.memory.embedding import wire
from stead.memory.embedding.embedder import Embedder
from stead.memory.embedding.process import WorkerEnded, start
from tests.memory.embedding.bench import PATIENT_S, PRIVATE, SENTENCES, Watched, process_of

LONG = " ".join(SENTENCES)


async def embed(embedder: Embedder, *texts: str, deadline_s: float = PATIENT_S) -> list[bytes]:
    return list(await embedder.embed(texts or ("a",), held=PRIVATE, deadline_s=deadline_s))


async def test_it_has_no_environment_no_socket_and_gives_way_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_API_KEY", "sk-not-for-others")
    embedder = Embedder()
    await embedder.ready()
    process = Path(f"/proc/{embedder.state().process}")

    names = {line.split(b"=")[0] for line in (process / "environ").read_bytes().split(b"\0") if line}
    opened = [os.readlink(path) for path in (process / "fd").iterdir()]
    limits = (process / "limits").read_text()

    assert b"ACME_API_KEY" not in names and b"HOME" not in names
    assert b"OPENBLAS_NUM_THREADS" in names
    assert not [target for target in opened if target.startswith("socket:")]
    assert (process / "oom_score_adj").read_text() == "800\n"
    assert os.getpriority(os.PRIO_PROCESS, embedder.state().process) == min(os.getpriority(os.PRIO_PROCESS, 0) + 10, 19)
    assert "Max address space         4294967296" in limits
    assert os.getsid(embedder.state().process) == embedder.state().process
    await embedder.close()


async def test_killed_in_the_middle_of_a_batch_it_says_so_and_starts_again(embedder: Embedder) -> None:
    first = embedder.state().process
    batch = asyncio.create_task(embed(embedder, *[LONG] * BATCH))
    for _ in range(3):
        await asyncio.sleep(0)  # its first request goes out
    os.kill(first, signal.SIGKILL)

    with pytest.raises(EmbeddingFault, match="ended by SIGKILL") as caught:
        await batch
    assert caught.value.kind == "crashed"
    state = embedder.state()
    assert not state.alive and "SIGKILL" in state.reason and state.restarts == 1

    assert len(await embed(embedder)) == 1
    state = embedder.state()
    assert state.alive and state.restarts == 0 and state.process not in (0, first)


async def test_killed_while_nobody_asks_it_is_started_again_without_its_places(embedder: Embedder) -> None:
    (vector,) = await embed(embedder)
    await embedder.load("home", [1], [vector])
    killed = Watched(embedder.state().process)
    os.kill(killed.pid, signal.SIGKILL)
    await killed.ended()

    with pytest.raises(EmbeddingFault, match="not loaded") as caught:
        await embedder.nearest("home", vector, 1, deadline_s=PATIENT_S)
    assert caught.value.kind == "unloaded"
    await embedder.load("home", [1], [vector])
    assert await embedder.nearest("home", vector, 1) == [(1, 1.0)]


async def test_the_third_end_in_a_row_is_the_last_until_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stead.memory.embedding.embedder.BACKOFF_S", (0.0, 0.0, 0.0))
    embedder = Embedder()
    for _ in range(3):
        asked = asyncio.create_task(embed(embedder))
        os.kill(await process_of(embedder), signal.SIGKILL)
        with pytest.raises(EmbeddingFault) as caught:
            await asked
        assert caught.value.kind == "crashed"

    with pytest.raises(EmbeddingFault, match="3 times in a row") as caught:
        await embed(embedder)
    assert caught.value.kind == "dead"
    with pytest.raises(EmbeddingFault, match="3 times in a row"):
        await embedder.load("home", [], [])
    assert not embedder.state().alive and embedder.state().process == 0

    await embedder.ready()
    assert embedder.state().alive
    await embedder.close()


async def test_after_the_second_end_in_a_row_it_waits_before_it_starts() -> None:
    embedder = Embedder()
    for _ in range(2):
        asked = asyncio.create_task(embed(embedder))
        os.kill(await process_of(embedder), signal.SIGKILL)
        with pytest.raises(EmbeddingFault):
            await asked

    with pytest.raises(EmbeddingFault, match="starts again in"):
        await embed(embedder)
    await embedder.close()


async def test_nobody_waits_longer_than_the_deadline(embedder: Embedder) -> None:
    os.kill(embedder.state().process, signal.SIGSTOP)
    began = time.monotonic()

    with pytest.raises(EmbeddingFault, match=r"within 0\.2 s") as caught:
        await embed(embedder, deadline_s=0.2)
    with pytest.raises(EmbeddingFault, match=r"within 0\.1 s"):
        await embedder.nearest("home", "a", 1, deadline_s=0.1)

    assert caught.value.kind == "timeout"
    assert time.monotonic() - began < 2
    os.kill(embedder.state().process, signal.SIGCONT)
    assert len(await embed(embedder)) == 1


async def test_a_stuck_worker_is_ended(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stead.memory.embedding.embedder.REQUEST_S", 0.2)
    stuck = Watched(embedder.state().process)
    os.kill(stuck.pid, signal.SIGSTOP)

    with pytest.raises(EmbeddingFault, match=r"did not answer within 0\.2 s"):
        await embed(embedder)
    await stuck.ended()
    monkeypatch.setattr("stead.memory.embedding.embedder.REQUEST_S", 30.0)
    assert len(await embed(embedder)) == 1


async def test_a_search_does_not_wait_for_a_batch(embedder: Embedder) -> None:
    (vector,) = await embed(embedder)
    await embedder.load("home", [1], [vector])
    batch = asyncio.create_task(embed(embedder, *[LONG] * (BATCH // 4)))
    await asyncio.sleep(0)

    assert [number for number, _ in await embedder.nearest("home", "a", 1, deadline_s=PATIENT_S)] == [1]
    assert not batch.done()
    assert len(await batch) == BATCH // 4


async def test_it_ends_when_nothing_is_asked_and_comes_back() -> None:
    embedder = Embedder(idle_s=0.2)
    await embedder.ready()
    worker = Watched(embedder.state().process)

    await worker.ended()

    assert embedder.state().alive and embedder.state().process == 0
    assert len(await embed(embedder)) == 1
    assert embedder.state().restarts == 0
    assert embedder.state().process != worker.pid
    await embedder.close()


async def test_it_dies_with_its_parent_even_when_it_cannot_see_that() -> None:
    program = (
        "import asyncio\nfrom stead.memory.embedding.embedder import Embedder\n"
        "async def main():\n    made = Embedder()\n    await made.ready()\n"
        "    print(made.state().process, flush=True)\n    await asyncio.sleep(60)\nasyncio.run(main())\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    worker = Watched(int(await asyncio.to_thread(parent.stdout.readline)))
    os.kill(worker.pid, signal.SIGSTOP)  # so that the closed pipe tells it nothing

    parent.kill()
    parent.wait()
    parent.stdout.close()

    await worker.ended()


async def test_closed_it_leaves_nothing_behind() -> None:
    embedder = Embedder()
    await embedder.ready()
    worker = Watched(embedder.state().process)
    batch = asyncio.create_task(embed(embedder, *[LONG] * BATCH))
    await asyncio.sleep(0)

    await embedder.close()

    await worker.ended()
    for asked in (batch, embed(embedder), embedder.load("home", [], [])):
        with pytest.raises(EmbeddingFault, match="closed") as caught:
            await asked
        assert caught.value.kind == "closed"
    await embedder.close()


async def test_where_it_is_not_installed_the_state_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stead.memory.embedding.wire.NEEDED", ("numpy", "a_module_of_nobody"))
    embedder = Embedder()

    with pytest.raises(EmbeddingFault) as caught:
        await embed(embedder)

    assert caught.value.kind == "absent"
    assert not embedder.state().alive
    assert "pip install 'stead[embed]'" in embedder.state().reason and "a_module_of_nobody" in embedder.state().reason
    await embedder.close()


# -- the wire ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (r"printf '\377\377\377\377'; exec sleep 60", "4294967295 bytes"),
        (r"printf '\0\0\0\2ab'; exec sleep 60", "makes no sense"),
        (r"printf '\0\0\0\5ab'", "ended with code 0"),
        ("echo all went wrong >&2; exit 3", "ended with code 3: all went wrong"),
        ("yes | head -c 2000000 >&2; echo the end >&2; exit 4", "ended with code 4: the end"),
        ("sleep 5 >&- & echo gone >&2; exit 5", "ended with code 5: gone"),
        ("kill -SEGV $$", "SIGSEGV"),
    ],
)
async def test_why_a_worker_that_lies_or_dies_is_no_more_is_said(script: str, why: str) -> None:
    process = await start(("/bin/sh", "-c", script))

    with pytest.raises(WorkerEnded, match=why):
        await process.ask(wire.packed(["embed", "a"]))

    await process.kill()


async def test_an_operation_that_there_is_not_is_refused_and_harms_nothing() -> None:
    process = await start()

    assert (await process.ask(wire.packed(["open", "/etc/passwd"])))[:2] == ["fault", "refused"]
    assert await process.ask(wire.packed(["load", "home", b"", b""])) == ["done", None]
    await process.kill()
    assert not process.pid


async def test_an_interpreter_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorkerEnded, match="could not be started: No such file"):
        await start((str(tmp_path / "python"),))
