"""A daemon that may fetch from one more place: a site on loopback, at the port that ``FETCH_PORT`` names.

For flows. The product has no such switch: what is not public is never fetched, and so a test without the Internet needs
a composition of its own. Everything else is the product's.
"""

from __future__ import annotations

import os
import sys

from stead.daemon import main
from stead.guardian.reach import Reach

if __name__ == "__main__":
    sys.exit(main(reach=Reach(endpoints=frozenset({("127.0.0.1", int(os.environ["FETCH_PORT"]))}))))
