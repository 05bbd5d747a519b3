"""The daemon as a later version of it would say that it is."""

from __future__ import annotations

import sys

import stead
from stead import daemon

if __name__ == "__main__":
    daemon.__dict__["__version__"] = stead.__version__ + ".1"
    sys.exit(daemon.main(sys.argv[1:]))
