"""Whether Stead can do its work, as every door is told it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from stead.domain.events import ModelRef
from stead.domain.ports import Isolation
from stead.domain.providers import ProviderCheck, ProviderRow
from stead.runtime.readiness import parts

WALLS = Isolation(True, "bubblewrap", "Commands run apart.", ())
NO_WALLS = Isolation(False, "none", "There is no sandbox.", ("bubblewrap 0.8 or newer: install 'bubblewrap'",))
ACME = ProviderRow("acme", "openai", "https://api.example.com/v1", "m1", "vault", False)
REHEARSAL = ProviderRow("rehearsal", "rehearsal", "", "rehearsal", "none", True)
GOOD = ProviderCheck("acme", True, "m1 answered 'ready'", 80, ("m1",))
BAD = ProviderCheck("acme", False, "401 the key was refused", 80, (), "auth", "give a working key")


def changed(**fields: object) -> ProviderRow:
    """ACME, but for some fields."""
    return ProviderRow(**{name: getattr(ACME, name) for name in ACME.__struct_fields__} | fields)


@pytest.mark.parametrize(
    ("rows", "provider", "verdict", "said", "fix"),
    [
        ([ACME, REHEARSAL], "acme", "ok", "acme/m1", ""),
        ([changed(checked=GOOD), REHEARSAL], "acme", "ok", "acme/m1", ""),
        ([changed(checked=BAD), REHEARSAL], "acme", "fail", "401 the key was refused", "give a working key"),
        ([changed(key="missing"), REHEARSAL], "acme", "fail", "acme has no key", "stead providers set-key acme"),
        ([changed(key="env:A_KEY (not set)")], "acme", "fail", "env:A_KEY (not set)", "set the variable"),
        ([changed(key="env:A_KEY (set)")], "acme", "ok", "acme/m1", ""),
        ([REHEARSAL], "rehearsal", "warn", "no AI", "stead providers add"),
        ([REHEARSAL], "acme", "fail", "no provider 'acme'", "stead providers use"),
    ],
)
def test_a_model_is_ready_when_its_provider_has_its_key_and_did_not_fail_its_test(
    rows: Sequence[ProviderRow], provider: str, verdict: str, said: str, fix: str
) -> None:
    model, _ = parts((ModelRef(provider, "m1"),), rows, WALLS)
    assert (model.name, model.verdict) == ("model", verdict)
    assert said in model.text and fix in model.fix and bool(fix) == bool(model.fix)


def test_a_computer_without_a_sandbox_says_what_would_give_it_one() -> None:
    _, there = parts((ModelRef("acme", "m1"),), [ACME], WALLS)
    _, missing = parts((ModelRef("acme", "m1"),), [ACME], NO_WALLS)
    assert (there.verdict, there.fix) == ("ok", "")
    assert (missing.verdict, missing.fix) == ("fail", "bubblewrap 0.8 or newer: install 'bubblewrap'")


def test_a_fallback_is_named_and_the_first_model_decides() -> None:
    rows = [changed(checked=GOOD), ProviderRow("spare", "openai", "", "m2", "missing", False)]
    model, _ = parts((ModelRef("acme", "m1"), ModelRef("spare", "m2")), rows, WALLS)
    assert (model.verdict, model.text) == ("ok", "acme/m1, then spare/m2")
