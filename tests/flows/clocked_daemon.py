"""A daemon whose clock a test sets: the file that ``CLOCK`` names has how many milliseconds it is ahead of the host's.

For flows that take weeks. Everything else is the product's.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from stead.daemon import Own, main
from stead.runtime.alarms import WallClock


class SetClock(WallClock):
    """The host's clock, so much ahead."""

    def now_ms(self) -> int:
        """Milliseconds since 1970 (UTC), as the test has it."""
        return super().now_ms() + int(Path(os.environ["CLOCK"]).read_text())


if __name__ == "__main__":
    sys.exit(main(own=Own(clock=SetClock())))
