"""No page keeps anybody out on a phone: axe in both themes, no sideways scroll, targets that a finger can hit."""

from __future__ import annotations

import pytest

from tests.browser.chrome import PHONE, Visit
from tests.browser.reading import faults
from tests.browser.routes import ADDRESSES
from tests.browser.stage import Stage


@pytest.mark.promise("UI-3.accessible", "UI-3.responsive")
@pytest.mark.parametrize(("route", "address"), ADDRESSES, ids=[address for _, address in ADDRESSES])
def test_a_page_keeps_nobody_out_on_a_phone(some: Stage, visit: Visit, route: str, address: str) -> None:
    found = faults(visit, some, address, PHONE)
    assert not found, f"{route}: {len(found)}\n" + "\n".join(found)
