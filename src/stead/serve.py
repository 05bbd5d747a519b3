"""``python -m stead.serve`` is the daemon's process.

Layer: entry point. Garbage is not collected while modules are imported and the home is opened: there is hardly any, and
looking for it takes 80 ms of CPU. ``House.warm`` begins it.
"""

from __future__ import annotations

import gc
import sys

gc.disable()

from stead.daemon import main  # noqa: E402 - imports everything

sys.exit(main())
