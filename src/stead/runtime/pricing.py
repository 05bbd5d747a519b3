"""Which models no limit in money counts.

Layer: runtime.
"""

from __future__ import annotations

from collections.abc import Sequence

from stead.domain.objectives import ModelRef
from stead.domain.ports import Models


def unpriced(chain: Sequence[ModelRef], models: Models) -> tuple[str, ...]:
    """The models of a chain whose price is not known, by name; the first call loads the vendors' price list.

    Raises:
        NotFound: there is no such provider.
    """
    known = [(ref, models.info(ref).price_known) for ref in chain]
    return tuple(f"{ref.provider}/{ref.model}" for ref, priced in known if not priced)
