"""Providers that fail in every way they know: what is returned, what counts as charged, and who is asked next."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket

import pytest

from stead.domain.errors import ModelFault
from stead.domain.events import ModelRef
from stead.domain.messages import Text
from stead.providers.directory import ProviderConfig
from stead.providers.presets import Deadlines
from tests.fakes.faults import Fault, FaultyModel, answers, faulty_model, floods, hangs_up, never_answers, streams
from tests.fakes.models import Call, Turn, scripted_model
from tests.providers.conftest import HASTY, MakeModels, ask, local

WIRES = ["openai", "anthropic", "google"]
FIRST, SECOND = ModelRef("first", "m1"), ModelRef("second", "m2")
CALLING = Turn("I will write. ", (Call("write", {"path": "a.md", "text": "x" * 60}),))
DELTA = b"event: content_block_delta\n"
KEY = "sk-test-A1b2C3d4E5f6G7h8"


def at(server: FaultyModel, wire: str) -> str:
    url: str = getattr(server, wire)
    return url


def error(status: int, kind: str, message: str = "no", **headers: str) -> Fault:
    body = {"type": "error", "error": {"type": kind, "message": message, "code": kind}}
    return answers(status, json.dumps(body).encode(), headers)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (streams(turn=CALLING, skip=4), "truncated"),
        (streams(turn=CALLING, skip=4, then="drop"), "connection"),
        (streams(turn=CALLING, skip=4, then="stall"), "timeout"),
        (streams(DELTA + b"data: {nonsense\n\n", turn=CALLING, skip=4), "malformed"),
        (
            streams(DELTA + b'data: {"choices": 7, "type": "content_block_delta"}\n\n', turn=CALLING, skip=4),
            ("malformed", "truncated"),  # one vendor's client passes over it, and then the stop reason is missing
        ),
        (streams(DELTA + b"data: [1, 2]\n\n", turn=CALLING, skip=4), "malformed"),
        (streams(b"data: \xff\xfe\xfd\n\n", turn=CALLING, skip=4), "malformed"),
        (hangs_up(), "connection"),
        (never_answers(), "timeout"),
        (streams(then="stall"), "timeout"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_reply_that_may_have_cost_something_is_a_charged_fault_and_nobody_else_is_asked(
    wire: str, fault: Fault, kind: str | tuple[str, ...], make_models: MakeModels
) -> None:
    async with faulty_model(fault) as bad, scripted_model([Turn("fine")]) as good:
        models = make_models(
            local("first", at(bad, wire), wire, model="m1"), local("second", good.openai), deadlines=HASTY
        )
        with pytest.raises(ModelFault) as caught:
            await models.reply(ask((FIRST, SECOND)), lambda _: None)
    assert caught.value.kind in ((kind,) if isinstance(kind, str) else kind)
    assert caught.value.charged
    assert len(caught.value.attempts) == 1 and caught.value.attempts[0].startswith("first/m1: ")
    assert good.requests() == []


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (error(429, "rate_limit_error", **{"retry-after": "3"}), "first/m1: 429 rate limited, retry after 3 s"),
        (error(529, "overloaded_error"), "first/m1: 529 overloaded"),
        (error(503, "overloaded_error"), "first/m1: 503 overloaded"),
        (error(500, "api_error"), "first/m1: 500 server error: no"),
        (error(401, "authentication_error"), "first/m1: 401 the key was refused"),
        (error(404, "not_found_error"), "first/m1: 404 no such model or address: no"),
        (error(400, "invalid_request_error", "bad field"), "first/m1: 400 refused: bad field"),
        (answers(502, b"<html>Bad gateway</html>"), "first/m1: 502 server error"),
        (answers(302, b"", {"location": "http://127.0.0.1:9/"}), "first/m1: "),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_refusal_before_any_output_costs_nothing_and_the_fallback_serves(
    wire: str, fault: Fault, said: str, make_models: MakeModels
) -> None:
    async with faulty_model(fault) as bad, scripted_model([Turn("fine")]) as good:
        models = make_models(local("first", at(bad, wire), wire), local("second", good.openai))
        reply = await models.reply(ask((FIRST, SECOND)), lambda _: None)
    assert reply.parts == (Text("fine"),) and reply.model == SECOND
    assert len(reply.attempts) == 1 and reply.attempts[0].startswith(said)
    assert len(bad.requests) == 1


async def test_nobody_there_is_followed_by_the_fallback(make_models: MakeModels) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound and not listening: a connection is refused
        closed = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        async with scripted_model([Turn("fine")]) as good:
            models = make_models(
                local("first", closed), local("nowhere", "http://no-such-host.invalid/v1"), local("second", good.openai)
            )
            chain = (FIRST, ModelRef("nowhere", "m"), ModelRef("absent", "m"), SECOND)
            reply = await models.reply(ask(chain), lambda _: None)
    assert reply.attempts == (
        "first/m1: connection refused",
        "nowhere/m: the host name does not resolve",
        "absent/m: no such provider is configured",
    )


@pytest.mark.parametrize("wire", WIRES)
async def test_an_error_inside_the_stream_is_free_before_output_and_charged_after(
    wire: str, make_models: MakeModels
) -> None:
    kind = {"type": "error", "error": {"type": "overloaded_error", "code": "overloaded", "message": "busy"}}
    event = b"event: error\ndata: " + json.dumps(kind).encode() + b"\n\n"
    async with (
        faulty_model(streams(event), streams(event, turn=CALLING, skip=2)) as bad,
        scripted_model([Turn("fine")]) as good,
    ):
        models = make_models(local("first", at(bad, wire), wire), local("second", good.openai))
        reply = await models.reply(ask((FIRST, SECOND)), lambda _: None)
        assert reply.model == SECOND and "overloaded" in reply.attempts[0]
        with pytest.raises(ModelFault) as caught:
            await models.reply(ask((FIRST,)), lambda _: None)
    assert (caught.value.kind, caught.value.charged) == ("overloaded", True)


async def test_when_all_fail_free_of_charge_the_fault_says_so_and_how_long_to_wait(make_models: MakeModels) -> None:
    limits = error(429, "rate_limit_error", **{"retry-after": "7"})
    async with faulty_model(error(401, "authentication_error")) as one, faulty_model(limits) as two:
        models = make_models(local("first", one.openai), local("second", two.openai))
        with pytest.raises(ModelFault) as caught:
            await models.reply(ask((FIRST, SECOND)), lambda _: None)
    fault = caught.value
    assert (fault.kind, fault.charged, fault.retry_after_s) == ("rate_limit", False, 7.0)
    assert fault.attempts == ("first/m1: 401 the key was refused", "second/m2: 429 rate limited, retry after 7 s")
    assert "Next: wait, or add a fallback model" in str(fault)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("piece", [b"x" * 65536, b": ping\n\n" * 4096], ids=["one endless line", "endless pings"])
async def test_a_flood_is_cut_off(wire: str, piece: bytes, make_models: MakeModels) -> None:
    async with faulty_model(floods(piece)) as bad:
        models = make_models(local("first", at(bad, wire), wire))
        with pytest.raises(ModelFault) as caught:
            await models.reply(ask((FIRST,)), lambda _: None)
    assert caught.value.kind == "malformed" and caught.value.charged
    assert "has no end" in str(caught.value)


async def test_a_compressed_answer_is_refused_before_it_can_unpack(make_models: MakeModels) -> None:
    bomb = gzip.compress(b"data: {}\n\n" * 1_000_000)
    headers = {"content-type": "text/event-stream", "content-encoding": "gzip"}
    async with faulty_model(answers(200, bomb, headers)) as bad:
        models = make_models(local("first", bad.openai))
        with pytest.raises(ModelFault) as caught:
            await models.reply(ask((FIRST,)), lambda _: None)
        assert bad.requests[0].headers["accept-encoding"] == "identity"
    assert caught.value.kind == "malformed" and "compressed" in str(caught.value)


async def test_a_stream_that_only_pings_ends_at_the_total_limit(make_models: MakeModels) -> None:
    async with scripted_model([Turn("word " * 100, delay_s=0.1)]) as slow:
        models = make_models(local("first", slow.openai), deadlines=Deadlines(total_s=0.5))
        await models.warm()
        with pytest.raises(ModelFault) as caught:
            await models.reply(ask((FIRST,)), lambda _: None)
    assert caught.value.kind == "timeout" and "0.5 s" in str(caught.value)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("cut", range(1, 12))
async def test_no_call_is_returned_from_a_reply_cut_at_any_event(wire: str, cut: int, make_models: MakeModels) -> None:
    async with faulty_model(streams(turn=CALLING, skip=cut)) as bad:
        models = make_models(local("first", at(bad, wire), wire))
        try:
            reply = await models.reply(ask((FIRST,)), lambda _: None)
        except ModelFault as fault:
            assert fault.charged and fault.kind in ("truncated", "malformed")
        else:
            # Only what follows the stop reason may be missing: usage and the end mark, or the last event.
            assert cut <= (2 if wire == "openai" else 1), (cut, reply)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("status", [200, 400, 401, 429, 500])
async def test_a_key_that_the_server_echoes_stays_out_of_every_text(
    wire: str, status: int, make_models: MakeModels
) -> None:
    said = f"Incorrect API key provided: {KEY}. Also {KEY[:12]}... and Bearer {KEY[6:]} and sk-another-0123456789abcdef"
    fault = streams(f"data: {said}\n\n".encode()) if status == 200 else error(status, "invalid_request_error", said)
    config = ProviderConfig("first", "compatible" if wire == "openai" else wire, "", "m1", "env:THE_KEY")
    async with faulty_model(fault) as bad:
        placed = ProviderConfig(config.name, config.preset, at(bad, wire), config.model, config.key)
        models = make_models(placed, environ={"THE_KEY": KEY})
        with pytest.raises(ModelFault) as caught:
            await models.reply(ask((FIRST,)), lambda _: None)
        check = await models.check("first")
        sent = bad.requests[0].headers["authorization"]
    assert KEY in sent
    for text in (str(caught.value), repr(caught.value), *caught.value.attempts, check.text):
        assert not any(KEY[at : at + 8] in text for at in range(len(KEY) - 7)), text
        assert "sk-another" not in text


async def test_a_provider_without_its_key_is_passed_over(make_models: MakeModels) -> None:
    async with scripted_model([Turn("fine")]) as good:
        models = make_models(
            ProviderConfig("first", "compatible", good.openai, "m1", "env:NOT_SET"), local("second", good.openai)
        )
        reply = await models.reply(ask((FIRST, SECOND)), lambda _: None)
    assert reply.attempts == ("first/m1: its key (env:NOT_SET) is not set",)


async def test_no_key_is_sent_where_there_is_none(make_models: MakeModels) -> None:
    async with scripted_model([Turn("a"), Turn("b")]) as server:
        models = make_models(local("first", server.openai), local("second", server.anthropic, "anthropic"))
        await models.reply(ask((FIRST,)), lambda _: None)
        await models.reply(ask((SECOND,)), lambda _: None)
    for seen in server.requests():
        assert "authorization" not in seen.request.headers and "x-api-key" not in seen.request.headers
        assert not [name for name in seen.request.headers if name.startswith("x-stainless-")]
        assert seen.request.headers["user-agent"].startswith("stead/")


@pytest.mark.parametrize("before", [True, False], ids=["before its first byte", "in the middle"])
async def test_after_a_sleep_a_stream_that_was_lost_without_a_word_breaks_soon_but_a_server_here_may_think(
    before: bool, make_models: MakeModels
) -> None:
    patient = Deadlines(after_sleep_s=0.1)
    fault = never_answers() if before else streams(turn=CALLING, skip=4, then="stall")
    async with faulty_model(fault) as lost:
        models = make_models(local("first", at(lost, "openai")), deadlines=patient)
        text = asyncio.Event()
        asked = asyncio.create_task(models.reply(ask((FIRST,)), lambda _: text.set()))
        if before:
            while not lost.requests:
                await asyncio.sleep(0.01)
        else:
            await text.wait()
        models.woke()
        if before:  # a server on this computer slept too, and may still think
            done, _ = await asyncio.wait({asked}, timeout=0.5)
            assert not done
            asked.cancel()
            return
        with pytest.raises(ModelFault, match="since this computer woke"):
            await asyncio.wait_for(asked, 10)
