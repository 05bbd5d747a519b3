"""CH: from a phone's press to the call's effect, from a question to the chat, and what idle channels cost.

Over the wire of the tests' Telegram, which is strict and on this computer: the platform's own time and the network's
are not in the figures. A press counts from the moment at which the platform has it until the file that the call
writes is there; a question from its event until the platform has taken it. Three channels of three bots idle for a
minute; the memory is that of each channel's own process. ``ch_idle`` has that of every platform, as ``CH.IDLE``.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from bench.bar import Bar
from bench.ch_idle import MOST_MIB
from bench.meters import cpu_s, rss_mib, tree
from tests.flows.chatting import Bot, connect, pair, telegram
from tests.flows.house import LivingHome

PRESSES, IDLE_S = 10, 60.0


def _answer(house: LivingHome, bot: Bot, project: Path, n: int) -> tuple[float, float]:
    """Seconds from a question to the chat, and from a press to the file."""
    bot.writes(f'write "hello" to greeting{n}.txt')
    known = len([text for text in bot.sent() if "May I?" in text])
    house.until(lambda: len([text for text in bot.sent() if "May I?" in text]) > known, "the question", poll_s=0.005)
    seen_ms = time.time() * 1000
    (asked,) = house.get("/approvals")["items"]
    message = bot.message("May I?")
    bot.presses(message, "Allow")
    pressed = time.monotonic()
    house.until((project / f"greeting{n}.txt").exists, "the file", poll_s=0.002)
    took = time.monotonic() - pressed
    house.until(lambda: house.get("/approvals")["items"] == [], "it to be settled")
    house.until(lambda: f"greeting{n}.txt" in bot.sent()[-1] and "May I?" not in bot.sent()[-1], "the reply")
    return (seen_ms - asked["requested_ms"]) / 1000, took


def _workers(pid: int) -> list[int]:
    """The channels' own processes below the daemon."""
    found = []
    for one in tree(pid):
        try:
            if b"stead.channels.worker" in Path(f"/proc/{one}/cmdline").read_bytes().split(b"\0"):
                found.append(one)
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def measure() -> list[Bar]:
    """All of them."""
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as folder, ExitStack() as closing:
        (project := Path(folder) / "project").mkdir()
        bots = [closing.enter_context(telegram(f"{100 + n}:token-of-tests")) for n in range(3)]
        house = LivingHome(Path(folder) / "home")
        house.start()
        closing.callback(house.stop)
        for n, bot in enumerate(bots):
            connect(house, bot, *([f"bot{n}"] if n else []))
        pair(house, bots[0], project)
        took = [_answer(house, bots[0], project, n) for n in range(PRESSES)]
        assert house.process
        pids = _workers(house.process.pid)
        spent = sum(map(cpu_s, pids))
        time.sleep(IDLE_S)
        idle_ms = (sum(map(cpu_s, pids)) - spent) * 1000 / len(pids)
        memory = [rss_mib(pid) for pid in pids]
    told, ran = (statistics.median(column) for column in zip(*took, strict=True))
    largest, said = max(memory), f"{PRESSES} presses, slowest {max(ran for _, ran in took):.2f} s"
    return [
        Bar("CH.press", round(ran, 3), "s from a press to the call's effect", "< 1", ran < 1, {}, said),
        Bar("CH.told", round(told, 3), "s from a question to the chat", "< 2", told < 2, {}, said),
        Bar(
            *(
                "CH.idle",
                round(largest, 1),
                "MiB of the largest of three idle channels",
                f"≤ {MOST_MIB}",
                largest <= MOST_MIB,
            ),
            conditions=f"{len(pids)} processes of Telegram; {idle_ms:.0f} ms of CPU each in {IDLE_S:.0f} s",
        ),
    ]
