"""Which providers there are, which one serves, and what is known of a model before it is asked."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.domain.errors import InvalidRequest, NotFound
from stead.domain.events import ModelRef
from stead.domain.messages import Text, Usage
from stead.domain.providers import ProviderRow
from stead.providers import pricing
from stead.providers.directory import ProviderConfig, require_valid, secret_name
from stead.providers.discovery import discover
from stead.providers.models import ProviderModels
from stead.providers.presets import LOCAL_SERVERS, PRESETS, Preset
from tests.fakes.faults import answers, faulty_model, floods, never_answers
from tests.fakes.models import Turn, scripted_model
from tests.providers.conftest import MakeModels, ask, local

REHEARSAL = (ModelRef("rehearsal", "rehearsal"),)


class Vault:
    """Secrets in memory, as the port has them."""

    def __init__(self, **values: str) -> None:
        self.values = values

    async def put(self, name: str, value: str) -> int:
        self.values[name] = value
        return 1

    def get(self, name: str) -> str | None:
        return self.values.get(name)

    async def remove(self, name: str) -> bool:
        return self.values.pop(name, None) is not None


def test_with_nothing_set_up_the_rehearsal_model_serves() -> None:
    models = ProviderModels({})
    assert models.default_chain() == REHEARSAL
    assert models.rows() == (ProviderRow("rehearsal", "rehearsal", "", "rehearsal", "none", found=True),)
    info = models.info(REHEARSAL[0])
    assert info.rehearsal and info.price_known and info.input_usd_micros_per_mtok == 0


async def test_a_key_in_the_environment_is_enough(make_models: MakeModels) -> None:
    models = make_models(environ={"ANTHROPIC_API_KEY": "sk-1", "OPENAI_API_KEY": "sk-2"})
    assert models.default_chain() == (ModelRef("anthropic", PRESETS["anthropic"].model),)
    rows = {row.name: row for row in models.rows()}
    assert rows["openai"].key == "env:OPENAI_API_KEY (set)" and rows["openai"].found
    assert list(rows)[-1] == "rehearsal"


async def test_a_base_url_in_the_environment_is_honoured_and_shown_without_its_password(
    make_models: MakeModels,
) -> None:
    async with scripted_model([Turn("hello")]) as server:
        models = make_models(environ={"ANTHROPIC_API_KEY": "sk-1", "ANTHROPIC_BASE_URL": server.anthropic})
        reply = await models.reply(ask(models.default_chain()), lambda _: None)
        assert reply.parts == (Text("hello"),) and server.requests()[0].wire == "anthropic"
    shown = make_models(environ={"OPENAI_BASE_URL": "http://me:pass@gateway.example.com/v1"}).rows()[0]
    assert shown.base_url == "http://gateway.example.com/v1"


async def test_what_a_person_configured_goes_first_and_is_alone_unless_they_chose_a_chain(
    make_models: MakeModels,
) -> None:
    mine = ProviderConfig("mine", "compatible", "http://127.0.0.1:9/v1", "m")
    models = make_models(mine, environ={"OPENAI_API_KEY": "sk-2"})
    assert models.default_chain() == (ModelRef("mine", "m"),)
    chain = (ModelRef("openai", "gpt-x"), ModelRef("mine", "m"))
    models.configure([mine], chain)
    assert models.default_chain() == chain
    models.configure([], chain)
    assert models.default_chain() == (ModelRef("openai", "gpt-x"),)


async def test_a_provider_whose_key_is_missing_is_shown_and_not_chosen(make_models: MakeModels) -> None:
    models = make_models(
        ProviderConfig("a", "openai", key="env:NOPE"), ProviderConfig("b", "openai", key="vault"), secrets=Vault()
    )
    assert models.default_chain() == REHEARSAL
    assert [row.key for row in models.rows()[:2]] == ["env:NOPE (not set)", "missing"]


async def test_a_key_from_the_vault_is_sent_and_a_changed_one_takes_effect_at_once(make_models: MakeModels) -> None:
    vault = Vault(**{secret_name("mine"): "first-key-0123"})
    async with scripted_model([Turn("a"), Turn("b")]) as server:
        models = make_models(ProviderConfig("mine", "compatible", server.openai, "m", "vault"), secrets=vault)
        assert models.rows()[0].key == "vault"
        await models.reply(ask(models.default_chain()), lambda _: None)
        await vault.put(secret_name("mine"), "second-key-0123")
        await models.reply(ask(models.default_chain()), lambda _: None)
        sent = [seen.request.headers["authorization"] for seen in server.requests()]
    assert sent == ["Bearer first-key-0123", "Bearer second-key-0123"]


async def test_switching_at_run_time_leaves_the_request_under_way_alone(make_models: MakeModels) -> None:
    heard = asyncio.Event()
    async with scripted_model([Turn("slow words " * 8, delay_s=0.02)]) as one, scripted_model([Turn("new")]) as two:
        models = make_models(local("mine", one.openai))
        first = asyncio.create_task(models.reply(ask(models.default_chain()), lambda _: heard.set()))
        await asyncio.wait_for(heard.wait(), 20)
        models.configure([local("mine", two.openai)])
        second = await models.reply(ask(models.default_chain()), lambda _: None)
        assert second.parts == (Text("new"),)
        assert (await asyncio.wait_for(first, 20)).parts == (Text("slow words " * 8),)


@pytest.mark.parametrize(
    ("config", "named"),
    [
        (ProviderConfig("Bad Name", "openai"), "Bad Name"),
        (ProviderConfig("a", "nope"), "nope"),
        (ProviderConfig("rehearsal", "openai"), "built in"),
        (ProviderConfig("a", "openai", key="sk-12345678"), "never itself"),
        (ProviderConfig("a", "compatible"), "address"),
        (ProviderConfig("a", "compatible", "ftp://example.com"), "http"),
        (ProviderConfig("a", "compatible", "http://me:pw@example.com/v1"), "vault"),
    ],
)
def test_a_configuration_that_cannot_work_is_refused_with_the_way_out(config: ProviderConfig, named: str) -> None:
    with pytest.raises(InvalidRequest, match=named) as caught:
        require_valid(config)
    assert "pw" not in str(caught.value) and "sk-1234" not in str(caught.value)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_every_preset_makes_a_valid_provider_about_which_everything_is_known(preset: Preset) -> None:
    models = ProviderModels({})
    if preset.name != "rehearsal":
        url = "" if preset.base_url else "https://models.example.com/v1"
        config = ProviderConfig("mine", preset.name, url, preset.model or "some-model")
        require_valid(config)
        models.configure([config])
        info = models.info(ModelRef("mine", preset.model or "some-model"))
        assert info.window_tokens >= info.max_output_tokens > 0
        assert info.price_known == (preset.name != "compatible")
        assert (info.input_usd_micros_per_mtok > 0) == bool(preset.prices)
        assert (info.cached_usd_micros_per_mtok > 0) == bool(preset.prices)
        assert info.cached_usd_micros_per_mtok <= info.input_usd_micros_per_mtok


def test_an_unknown_provider_is_not_found() -> None:
    with pytest.raises(NotFound, match="nobody"):
        ProviderModels({}).info(ModelRef("nobody", "m"))


@given(
    st.sampled_from([preset for preset in PRESETS.values() if preset.prices]),
    st.integers(0, 150_000),
    st.integers(0, 100_000),
    st.integers(0, 50_000),
    st.integers(0, 50_000),
)
def test_no_reply_costs_more_than_its_reservation(preset: Preset, fresh: int, out: int, cached: int, new: int) -> None:
    usage = Usage(input=fresh + cached + new, output=out, cached=cached, cache_written=new)
    rates = pricing.rates(preset, preset.base_url, preset.model)
    spent = pricing.spend(preset, preset.base_url, preset.model, usage, new)
    most = usage.input * rates.input_micros + usage.output * rates.output_micros
    assert spent.price_known and spent.usd_micros <= -(-most // 1_000_000)


def test_what_the_cache_keeps_for_an_hour_costs_more_to_write() -> None:
    preset, usage = PRESETS["anthropic"], Usage(input=1_000_000, cache_written=1_000_000)
    briefly = pricing.spend(preset, preset.base_url, "claude-sonnet-5-5", usage, 0)
    longer = pricing.spend(preset, preset.base_url, "claude-sonnet-5-5", usage, 1_000_000)
    assert (briefly.usd_micros, longer.usd_micros) == (2_500_000, 4_000_000)


def test_a_model_that_no_list_has_is_free_only_on_this_machine() -> None:
    compatible = PRESETS["compatible"]
    assert pricing.rates(compatible, "http://127.0.0.1:9/v1", "mine") == pricing.FREE
    assert not pricing.rates(compatible, "https://models.example.com/v1", "mine").known
    assert not pricing.spend(compatible, "https://models.example.com/v1", "mine", Usage(10, 10), 0).price_known


async def test_local_servers_are_found_and_the_first_model_is_used(make_models: MakeModels) -> None:
    async with scripted_model([Turn("local")], models=("qwen", "other")) as server:
        found = await discover([at(server.openai)])
        assert [(item.preset.name, item.models) for item in found] == [("ollama", ("qwen", "other"))]
        models = make_models()
        models._directory.learn(found)
        assert models.default_chain() == (ModelRef("ollama", "qwen"),)
        assert models.rows()[0].found
        assert models.info(models.default_chain()[0]).price_known


def at(url: str) -> Preset:
    """The preset of Ollama, moved to where a test's server listens."""
    import msgspec

    return msgspec.structs.replace(PRESETS["ollama"], base_url=url)


async def test_a_server_that_says_its_window_is_believed() -> None:
    said = {"data": [{"id": "m", "max_model_len": 4096}]}
    async with faulty_model(answers(200, json.dumps(said).encode()), listing=True) as server:
        assert [found.window_tokens for found in await discover([at(server.openai)])] == [4096]


@pytest.mark.parametrize(
    "fault",
    [
        answers(200, b"<html>hello</html>"),
        answers(200, b'{"data": []}'),
        answers(200, b'{"data": [{"id": "\\u001b[31m"}]}'),
        answers(404, b'{"data": [{"id": "m"}]}'),
        never_answers(),
        floods(b"x" * 65536),
    ],
)
async def test_whatever_else_listens_there_is_left_alone_within_half_a_second(fault: object) -> None:
    async with faulty_model(fault, listing=True) as server:  # type: ignore[arg-type]  # a fault
        began = time.monotonic()
        assert await discover([at(server.openai)] * 4) == ()
        assert time.monotonic() - began < 3  # half a second, and a busy machine's share


def test_the_searched_ports_are_those_of_the_four_servers() -> None:
    assert [preset.base_url for preset in LOCAL_SERVERS] == [
        f"http://127.0.0.1:{port}/v1" for port in (11434, 8080, 1234, 8000)
    ]


async def test_a_check_is_one_tiny_request_and_the_list_of_models(make_models: MakeModels) -> None:
    async with scripted_model([Turn("ready"), Turn("ready")], models=("b", "a")) as server:
        models = make_models(local("one", server.openai), local("two", server.anthropic, "anthropic"))
        for name in ("one", "two"):
            check = await models.check(name)
            assert (check.ok, check.models) == (True, ("a", "b")) and "ready" in check.text
        bodies = [seen.body for seen in server.requests()]
    assert len(bodies) == 2 and all(body["max_tokens"] <= 64 and "tools" not in body for body in bodies)
    assert (await make_models().check("rehearsal")).ok
    with pytest.raises(NotFound):
        await make_models().check("nobody")


async def test_a_provider_without_a_named_model_uses_the_first_that_its_server_lists(make_models: MakeModels) -> None:
    async with scripted_model([Turn("hi")], models=("zeta", "alpha")) as server:
        models = make_models(ProviderConfig("mine", "compatible", server.openai))
        reply = await models.reply(ask((ModelRef("mine", ""),)), lambda _: None)
    assert reply.model == ModelRef("mine", "alpha")


def test_importing_the_models_loads_no_http_library() -> None:
    code = (
        "import sys, stead.providers.models; m = stead.providers.models.ProviderModels({'OPENAI_API_KEY': 'k'});"
        "m.rows(); m.default_chain();"
        "heavy = {'httpcore2', 'h11', 'anyio', 'genai_prices', 'pydantic'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_key_does_not_show_in_an_endpoint_that_is_printed(make_models: MakeModels) -> None:
    models = make_models(environ={"OPENAI_API_KEY": "sk-secret-0123456789"})
    endpoint = models._directory.endpoint(models._find("openai"))
    assert endpoint.key == "sk-secret-0123456789" and "secret" not in f"{endpoint!r} {endpoint} {[endpoint]}"


def test_a_proxy_of_the_environment_is_used_and_never_for_this_machine() -> None:
    from stead.providers.directory import _proxy

    environ = {"HTTPS_PROXY": "http://proxy.example.com:3128", "no_proxy": "intern.example.com"}
    assert _proxy("https://api.example.com/v1", environ) == "http://proxy.example.com:3128"
    assert _proxy("https://a.intern.example.com/v1", environ) == ""
    assert _proxy("http://127.0.0.1:11434/v1", {"HTTP_PROXY": "http://proxy.example.com"}) == ""
    assert _proxy("http://api.example.com/v1", environ) == ""


async def test_a_wrong_key_and_a_dead_address_are_told_before_the_price_list_is_loaded() -> None:
    script = (
        "import asyncio, sys\n"
        "from stead.providers.directory import ProviderConfig\n"
        "from stead.providers.models import ProviderModels\n"
        "models = ProviderModels({'THE_KEY': 'an-invented-key'})\n"
        "models.configure([ProviderConfig('one', preset, url, 'm', 'env:THE_KEY') for preset, url in [sys.argv[1:]]])\n"
        "check = asyncio.run(models.check('one'))\n"
        "assert 'genai_prices' not in sys.modules, 'a third of a second of CPU'\n"
        "print(check.kind, check.ok, check.text, check.fix, sep='|')\n"
    )

    async def checked(preset: str, url: str) -> str:
        run = await asyncio.create_subprocess_exec(
            sys.executable, "-c", script, preset, url, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        said, wrong = await run.communicate()
        assert run.returncode == 0, wrong.decode()
        return said.decode()

    async with faulty_model(answers(401, b'{"error": {"message": "no"}}'), listing=True) as server:
        assert await checked("anthropic", server.anthropic) == (
            "auth|False|401 the key was refused|give a working key with `stead providers set-key one`\n"
        )
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = taken.getsockname()[1]
    kind, _, said, _ = (await checked("compatible", f"http://127.0.0.1:{free}/v1")).split("|")
    assert (kind, said) == ("connection", "connection refused")


@pytest.mark.parametrize("status", [401, 403])
async def test_a_key_that_is_refused_by_the_list_is_told_as_one_where_no_model_is_named(
    make_models: MakeModels, status: int
) -> None:
    async with faulty_model(answers(status, b'{"error": {"message": "no"}}'), listing=True) as server:
        models = make_models(ProviderConfig("one", "compatible", server.openai), environ={})
        check = await models.check("one")
    assert (check.kind, check.ok, check.text) == ("auth", False, f"{status} the key was refused")
    assert "stead providers set-key one" in check.fix
