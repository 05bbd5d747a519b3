"""Our client in the protocol's own conformance suite."""

from __future__ import annotations

from argparse import Namespace

import pytest

from bench.mcp_client import run
from stead.mcp.messages import HANDSHAKE, STATELESS


@pytest.mark.parametrize(
    ("version", "scenario"),
    [(HANDSHAKE, "elicitation-sep1034-client-defaults"), (STATELESS, "auth/iss-wrong-issuer")],
)
def test_a_scenario_of_each_revision_passes(version: str, scenario: str) -> None:
    assert run(Namespace(version=[version], scenario=[scenario])) == 0


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("version", [HANDSHAKE, STATELESS])
def test_every_scored_client_scenario_of_a_revision_passes(version: str) -> None:
    assert run(Namespace(version=[version], scenario=None)) == 0
