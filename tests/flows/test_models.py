"""Models as a person sets them up: prices, settings, switches, accounts, in the flows through every layer."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.models import Turn
from tests.flows.house import LivingHome
from tests.flows.served import served
from tests.promises import promise


def _elsewhere(url: str) -> str:
    """The same server at an address that is not this machine's own, so that it does not count as free."""
    return url.replace("127.0.0.1", "0.0.0.0")


@promise("LLM-7.unpriced")
def test_a_model_without_a_known_price_runs_and_only_the_tokens_bind(house: LivingHome, project: Path) -> None:
    with served(lambda _: Turn("Done.", usage=(100, 5, 0, 0))) as model:
        house.cli(
            "providers", "add", "lan", "--preset", "compatible", "--url", _elsewhere(model.openai), "--model", "m-1"
        )
        ran = house.cli("run", "say hello", "--dir", str(project), "--model", "lan/m-1")
    assert ran.returncode == 0, ran.stderr
    assert "no price is known for lan/m-1: only the limit of 400,000 tokens holds" in ran.stdout
    assert "price unknown" in house.cli("usage").stdout
