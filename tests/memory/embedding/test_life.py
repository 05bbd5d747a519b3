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
from stead.memory.embedding import artefact, frames
from stead.memory.embedding.child import Child, ChildDied, start
from stead.memory.embedding.embedder import Embedder
from tests.memory.embedding.bench import PATIENT_S, PRIVATE, SENTENCES, Watched, process_of

LONG = " ".join(SENTENCES)


async def embed(embedder: Embedder, *texts: str, deadline_s: float = PATIENT_S) -> list[bytes]:
    return list(await embedder.embed(texts or ("a",), held=PRIVATE, deadline_s=deadline_s))


async def test_it_has_no_environment_no_socket_and_gives_way_to_others(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACME_API_KEY", "sk-not-for-others")
    embedder = Embedder(cache)
    await embedder.ready()
    process = Path(f"/proc/{embedder.state().process}")

    names = {line.split(b"=")[0] for line in (process / "environ").read_bytes().split(b"\0") if line}
    opened = [os.readlink(path) for path in (process / "fd").iterdir()]
    limits = (process / "limits").read_text()

    assert b"ACME_API_KEY" not in names and b"HOME" not in names
    assert {b"OMP_NUM_THREADS", b"OPENBLAS_NUM_THREADS"} <= names
    assert not [target for target in opened if target.startswith("socket:")]
    assert (process / "oom_score_adj").read_text() == "800\n"
    assert os.getpriority(os.PRIO_PROCESS, embedder.state().process) == 10
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


async def test_killed_while_nobody_asks_it_is_started_anew_without_its_places(embedder: Embedder) -> None:
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


async def test_the_third_end_in_a_row_is_the_last_until_it_is_asked_for(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stead.memory.embedding.desk.BACKOFF_S", (0.0, 0.0, 0.0))
    embedder = Embedder(cache)
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


async def test_after_the_second_end_in_a_row_it_waits_before_it_starts(cache: Path) -> None:
    embedder = Embedder(cache)
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
    monkeypatch.setattr("stead.memory.embedding.desk.REQUEST_S", 0.2)
    stuck = Watched(embedder.state().process)
    os.kill(stuck.pid, signal.SIGSTOP)

    with pytest.raises(EmbeddingFault, match=r"did not answer within 0\.2 s"):
        await embed(embedder)
    await stuck.ended()
    monkeypatch.setattr("stead.memory.embedding.desk.REQUEST_S", 30.0)
    assert len(await embed(embedder)) == 1


async def test_a_search_does_not_wait_for_a_batch(embedder: Embedder) -> None:
    (vector,) = await embed(embedder)
    await embedder.load("home", [1], [vector])
    batch = asyncio.create_task(embed(embedder, *[LONG] * BATCH))
    await asyncio.sleep(0)

    assert [number for number, _ in await embedder.nearest("home", "a", 1)] == [1]
    assert not batch.done()
    assert len(await batch) == BATCH


async def test_only_so_many_wait(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stead.memory.embedding.desk.LONGEST_LINE", 2)
    os.kill(embedder.state().process, signal.SIGSTOP)
    under_way = asyncio.create_task(embed(embedder))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting = [asyncio.create_task(embed(embedder)) for _ in range(2)]
    await asyncio.sleep(0)

    with pytest.raises(EmbeddingFault, match="2 requests wait") as caught:
        await embed(embedder)
    assert caught.value.kind == "busy"
    os.kill(embedder.state().process, signal.SIGCONT)
    assert [len(await task) for task in (under_way, *waiting)] == [1, 1, 1]


async def test_it_ends_when_nothing_is_asked_and_comes_back(cache: Path) -> None:
    embedder = Embedder(cache, idle_s=0.2)
    await embedder.ready()
    worker = Watched(embedder.state().process)

    await worker.ended()

    assert embedder.state().alive and embedder.state().process == 0
    assert len(await embed(embedder)) == 1
    assert embedder.state().restarts == 0
    assert embedder.state().process != worker.pid
    await embedder.close()


async def test_a_worker_that_does_not_end_by_itself_is_ended(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stead.memory.embedding.desk._GRACE_S", 0.1)
    embedder = Embedder(cache, idle_s=0.1)
    await embedder.ready()
    worker = Watched(await process_of(embedder))
    os.kill(worker.pid, signal.SIGSTOP)

    await worker.ended()

    assert embedder.state().alive
    await embedder.close()


async def test_it_dies_with_its_parent_even_when_it_cannot_see_that(cache: Path) -> None:
    program = (
        "import asyncio, sys\nfrom pathlib import Path\nfrom stead.memory.embedding.embedder import Embedder\n"
        "async def main():\n    made = Embedder(Path(sys.argv[1]))\n    await made.ready()\n"
        "    print(made.state().process, flush=True)\n    await asyncio.sleep(60)\nasyncio.run(main())\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program, str(cache)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    worker = Watched(int(await asyncio.to_thread(parent.stdout.readline)))
    os.kill(worker.pid, signal.SIGSTOP)  # so that the closed pipe tells it nothing

    parent.kill()
    parent.wait()
    parent.stdout.close()

    await worker.ended()


async def test_closed_it_leaves_nothing_behind(cache: Path) -> None:
    embedder = Embedder(cache)
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


# -- the model's file --------------------------------------------------------------------------------------------------


async def test_a_search_during_the_first_build_is_told_so_at_once(tmp_path: Path) -> None:
    embedder = Embedder(tmp_path / "new" / "cache")
    assert not embedder.state().alive and "not built yet" in embedder.state().reason

    with pytest.raises(EmbeddingFault, match="being built") as caught:
        await embed(embedder, deadline_s=2)

    assert caught.value.kind == "building"
    assert not embedder.state().alive and "being built" in embedder.state().reason
    await embedder.load("home", [7], [b"\0\0\x80\x3f\x01\0"])
    assert await embedder.nearest("home", b"\0\0\x80\x3f\x01\0", 1, deadline_s=PATIENT_S) == [(7, 1.0)]
    await embedder.ready()
    assert embedder.state().alive
    await embedder.close()


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flipped(data: bytes) -> bytes:
    return data[:5_000_000] + bytes([data[5_000_000] ^ 1]) + data[5_000_001:]


def emptied(data: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("damage", [cut, flipped, emptied])
async def test_a_damaged_model_is_built_anew(cache: Path, tmp_path: Path, damage: object) -> None:
    assert callable(damage)
    right = artefact.path_in(cache).read_bytes()
    artefact.path_in(tmp_path).write_bytes(damage(right))
    embedder = Embedder(tmp_path)

    with pytest.raises(EmbeddingFault, match="built anew") as caught:
        await embed(embedder)
    assert caught.value.kind == "building"
    await embedder.ready()

    assert len(await embed(embedder)) == 1
    assert artefact.path_in(tmp_path).read_bytes() == right
    await embedder.close()


async def test_two_builders_at_once_do_no_harm(cache: Path, tmp_path: Path) -> None:
    both = [Embedder(tmp_path), Embedder(tmp_path)]

    await asyncio.gather(*(embedder.ready() for embedder in both))

    assert [path.name for path in tmp_path.iterdir()] == [artefact.path_in(cache).name]
    assert artefact.read(tmp_path) == artefact.read(cache)
    for embedder in both:
        await embedder.close()


async def test_what_a_killed_builder_left_is_swept_and_what_another_writes_is_not(tmp_path: Path) -> None:
    left, young = tmp_path / ".building-left", tmp_path / ".building-young"
    left.write_bytes(b"half")
    young.write_bytes(b"half")
    os.utime(left, (0, 0))

    artefact.write(tmp_path, b"tokens", b"model")

    assert not left.exists() and young.exists()
    assert artefact.read(tmp_path) == (b"tokens", b"model")


async def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    embedder = Embedder(tmp_path / "file" / "cache")

    with pytest.raises(EmbeddingFault, match="cannot be written to") as caught:
        await embedder.ready()

    assert caught.value.kind == "failed"
    state = embedder.state()
    assert not state.alive
    assert str(tmp_path / "file" / "cache") in state.reason and "Not a directory" in state.reason
    with pytest.raises(EmbeddingFault, match="cannot be written to"):
        await embed(embedder)
    await embedder.close()


async def test_where_it_is_not_installed_the_state_says_how_to_install_it(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stead.memory.embedding.desk.NEEDED", ("numpy", "a_module_of_nobody"))
    embedder = Embedder(cache)

    with pytest.raises(EmbeddingFault) as caught:
        await embed(embedder)

    assert caught.value.kind == "absent"
    assert not embedder.state().alive
    assert "pip install 'stead[embed]'" in embedder.state().reason and "a_module_of_nobody" in embedder.state().reason
    await embedder.close()


async def test_the_weights_are_needed_until_the_model_is_built_and_not_after(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stead.memory.embedding.desk.WEIGHTS", "a_module_of_nobody")
    new, built = Embedder(tmp_path), Embedder(cache)

    with pytest.raises(EmbeddingFault, match="a_module_of_nobody") as caught:
        await embed(new)

    assert caught.value.kind == "absent" and not new.state().alive
    assert built.state().alive and len(await embed(built)) == 1
    await new.close()
    await built.close()


# -- the wire ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (r"printf '\377\377\377\377'; exec sleep 60", "4294967295 bytes"),
        (r"printf '\0\0\0\6\0\0\0\11ab'; exec sleep 60", "past the end"),
        (r"printf '\0\0\0\0'; exec sleep 60", "without a field"),
        (r"printf '\0\0\0\5ab'", "ended with code 0"),
        ("echo all went wrong >&2; exit 3", "ended with code 3: all went wrong"),
        ("yes | head -c 2000000 >&2; echo the end >&2; exit 4", "ended with code 4: the end"),
        ("sleep 5 >&- & echo gone >&2; exit 5", "ended with code 5: gone"),
        ("kill -SEGV $$", "SIGSEGV"),
    ],
)
async def test_a_worker_that_lies_or_dies_is_told_of(tmp_path: Path, script: str, why: str) -> None:
    child = await start(tmp_path, 60, ("/bin/sh", "-c", script))

    with pytest.raises(ChildDied, match=why):
        await child.ask([b"embed", b"a"], 10)

    await child.kill()


async def test_too_large_a_frame_is_not_sent_and_not_read(cache: Path) -> None:
    child: Child = await start(cache, 60)
    with pytest.raises(frames.FrameError):
        await child.ask([b"embed", bytes(frames.LARGEST_FRAME)], 10)
    child._requests.write((frames.LARGEST_FRAME + 1).to_bytes(4, "big"))
    with pytest.raises(ChildDied, match="FrameError"):
        await child.ask([b"embed", b"a"], 10)
    await child.kill()


async def test_an_operation_that_there_is_not_is_refused_and_harms_nobody(cache: Path) -> None:
    child = await start(cache, 60)

    answer = await child.ask([b"open", b"/etc/passwd"], 10)

    assert answer[:2] == [b"fault", b"refused"]
    assert (await child.ask([b"clear", b"home"], 10)) == [b"done"]
    await child.end()
    assert child.has_ended()


async def test_an_interpreter_that_is_not_there_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(ChildDied, match="could not be started: No such file"):
        await start(tmp_path, 60, (str(tmp_path / "python"),))
