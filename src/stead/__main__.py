"""``python -m stead`` is ``stead``."""

from __future__ import annotations

import sys

from stead.cli.main import main

sys.exit(main())
