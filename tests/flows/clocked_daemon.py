"""A daemon whose clock a test sets: the file that ``CLOCK`` names has how many milliseconds it is ahead of the host's.

For flows that take weeks, and for hosts that sleep: a process that goes on after it was stopped is told what the host's
timer would tell it. Everything else is the product's.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from stead.daemon import Own, main
from stead.runtime.alarms import WallClock


def set_clock(path: Path, ahead_ms: int) -> None:
    """Have a clock be so much ahead, between two looks at it: it never reads as a file that is half written."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(str(ahead_ms))
    new.replace(path)


class SetClock(WallClock):
    """The host's clock, so much ahead."""

    def now_ms(self) -> int:
        """Milliseconds since 1970 (UTC), as the test has it."""
        return super().now_ms() + int(Path(os.environ["CLOCK"]).read_text())


def timer() -> int:
    """The descriptor of a timer that rings when this process goes on, as the host's does when the host wakes."""
    descriptor = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
    asyncio.get_running_loop().add_signal_handler(signal.SIGCONT, os.eventfd_write, descriptor, 1)
    return descriptor


if __name__ == "__main__":
    sys.exit(main(own=Own(clock=SetClock(), timer=timer)))
