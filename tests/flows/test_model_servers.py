"""Model servers as a person meets them: named by a preset, found by themselves, tried out, keyed, and paid for."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.domain.ends import WELL
from tests.fakes.models import Call, ServedModel, Turn, scripted_model
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, in_thread, served
from tests.promises import promise

OLLAMA_PORT = 11434
KEY = "sk-invented-canary-0451"
READ = Turn("", calls=(Call("read", {"path": "README.md"}),))
DONE = Turn("It has three headings.")


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivingHome]:
    """A daemon in whose environment there is a key, under a name that no preset knows."""
    living = LivingHome(tmp_path_factory.mktemp("keyed") / "home", {"ACME_KEY": KEY}, forked=True)
    living.start()
    yield living
    living.stop()


def key_of(model: ServedModel) -> set[str]:
    """Every key that was shown to a server, on any wire."""
    headers = [seen.request.headers for seen in model.requests()]
    return {
        header.get("x-api-key")
        or header.get("x-goog-api-key")
        or header.get("authorization", "").removeprefix("Bearer ")
        for header in headers
    }


@promise("LLM-1.openai", "LLM-1.anthropic", "LLM-1.google-native", "LLM-1.google", "LLM-1.env-key")
@pytest.mark.parametrize(
    ("preset", "wire"),
    [("openai", "openai"), ("anthropic", "anthropic"), ("google", "google"), ("google", "openai")],
)
def test_a_vendors_wire_is_spoken_with_the_key_that_the_environment_has(
    keyed: LivingHome, project: Path, preset: str, wire: str
) -> None:
    with served(by_turn(READ, then=DONE)) as model:
        url = {"openai": model.openai, "anthropic": model.anthropic, "google": model.google}[preset]
        url += "/openai" if preset != wire else ""
        options = ["--preset", preset, "--url", url, "--model", "scripted", "--key-env", "ACME_KEY"]
        name = f"{preset}-by-{wire}"
        added = keyed.cli("providers", "add", name, *options)
        assert added.returncode == 0, added.stderr
        assert keyed.cli("providers", "use", f"{name}/scripted").returncode == 0
        row = keyed.finish(keyed.give("count the headings", project))
    assert (row["status"], row["summary"]) == ("answered", "It has three headings.")
    assert {seen.wire for seen in model.requests()} == {wire}
    assert key_of(model) == {KEY}
    assert len(model.requests()) == 2
    assert "## Install" in str(model.requests()[1].body)  # what the tool read went back
    assert not model.flaws
    assert KEY not in str(keyed.events())


@promise("LLM-1.presets", "LLM-1.env-key")
def test_presets_name_addresses_and_a_vendors_key_in_the_environment_is_enough(tmp_path: Path, project: Path) -> None:
    with served(by_turn(then=DONE)) as model:
        house = LivingHome(
            tmp_path / "home", {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.anthropic}, forked=True
        )
        house.start()
        try:
            listed = house.cli("providers", "presets", "--json")
            presets = {row["name"]: row for row in map(json.loads, listed.stdout.splitlines())}
            row = house.finish(house.give("look around", project))
        finally:
            house.stop()
    assert row["status"] in WELL
    assert key_of(model) == {KEY}
    assert model.requests()[0].body["model"] == presets["anthropic"]["model"]
    for name in ("anthropic", "openai", "google", "openrouter", "moonshot", "minimax"):
        assert presets[name]["base_url"].startswith("https://"), name
        assert presets[name]["model"], name
        assert presets[name]["key_env"].endswith("_API_KEY"), name
    for name in ("ollama", "llamacpp", "lmstudio", "vllm"):
        assert presets[name]["base_url"].startswith("http://127.0.0.1:"), name
    assert presets["google"]["base_url"].endswith("/v1beta")


@promise("LLM-1.test")
def test_a_provider_is_tried_out_by_one_tiny_request_and_lists_its_models(house: LivingHome) -> None:
    with served(by_turn(then=Turn("Yes."))) as model:
        use_model(house, model.openai)
        tried = house.cli("providers", "test", "acme")
        assert tried.returncode == 0, tried.stderr
        assert "its models: scripted" in tried.stdout
        (request,) = model.requests()
        assert len(request.request.body) < 1000
        assert "tools" not in request.body
    gone = house.cli("providers", "test", "acme")
    assert gone.returncode == 1
    assert "failed" in gone.stdout


@promise("LLM-1.ollama", "LLM-6.local")
def test_a_local_model_server_is_found_and_used_without_any_setting(tmp_path: Path, project: Path) -> None:
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", OLLAMA_PORT)) == 0:
            pytest.skip("another program has Ollama's port; end it to see that a local server is found")
    house = LivingHome(tmp_path / "home", forked=True)
    house.home.make()
    house.home.settings.write_text('discover = "auto"\n', "utf-8")
    server = scripted_model(by_turn(READ, then=DONE), models=("quill:7b", "other:1b"), port=OLLAMA_PORT)
    with in_thread(server) as model:
        house.start()
        try:
            house.until(lambda: "quill:7b" in house.cli("providers").stdout, "the server to be found")
            row = house.finish(house.give("count the headings", project))
        finally:
            house.stop()
    assert (row["status"], row["summary"]) == ("answered", "It has three headings.")
    assert row["chain"] == [{"provider": "ollama", "model": "quill:7b"}]
    assert {seen.body["model"] for seen in model.requests()} == {"quill:7b"}
    assert row["usd_micros_used"] == 0


@promise("LLM-4.share")
@pytest.mark.parametrize("wire", ["compatible", pytest.param("anthropic", marks=pytest.mark.long)])
def test_the_share_of_cached_tokens_is_reported(house: LivingHome, project: Path, wire: str) -> None:
    cached = Turn("It has three headings.", usage=(1000, 10, 900, 0))
    with served(by_turn(Turn("", calls=READ.calls, usage=(500, 10, 0, 0)), then=cached)) as model:
        url = model.anthropic if wire == "anthropic" else model.openai
        house.post("/providers", {"name": "acme", "preset": wire, "base_url": url, "model": "scripted"})
        house.post("/chain", {"chain": [{"provider": "acme", "model": "scripted"}]})
        house.finish(house.give("count the headings", project))
    (usage,) = house.get("/usage")["items"]
    assert (usage["tokens_in"], usage["tokens_cached"]) == (1500, 900)
    assert "900 (60%)" in house.cli("usage").stdout
