"""The daemon without root's power over the modes of files, for flows that root runs; for anybody else it is the daemon.

The capabilities are dropped from what any later program may have, and then the daemon is started in place of this.
"""

from __future__ import annotations

import ctypes
import os
import sys

_PR_CAPBSET_DROP = 24
_POWERS = (1, 2)
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, see capabilities(7)."""

if __name__ == "__main__":
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for power in _POWERS:
            if libc.prctl(_PR_CAPBSET_DROP, power, 0, 0, 0):
                sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
    os.execv(sys.executable, [sys.executable, "-m", "stead.serve", *sys.argv[1:]])
