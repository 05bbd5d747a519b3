"""Pictures and documents on every vendor's wire, judged by the vendors' own types; and what is not shown, named."""

from __future__ import annotations

import itertools
import warnings
from base64 import b64encode

import pytest

from stead.domain.events import ModelRef
from stead.domain.ids import CallKey
from stead.domain.messages import PDF, Attachment, Message, ResultsMessage, ToolResult, UserMessage
from stead.domain.policies import Label
from stead.domain.ports import Reply
from tests.fakes.models import Call, Turn, scripted_model
from tests.fakes.pictures import pdf, png
from tests.providers.conftest import MakeModels, ask, local
from tests.providers.test_oracles import ANTHROPIC, OPENAI

with warnings.catch_warnings(action="ignore"):  # of its own docstrings, when it is compiled
    from google.genai.types import Content as CONTENT

PICTURE, DOCUMENT = png(40, 30), pdf(3)
SHOWN = Attachment("aa" * 32, "image/png", len(PICTURE), "plan.png", 40, 30)
READ = Attachment("bb" * 32, PDF, len(DOCUMENT), "offer.pdf", pages=3)
KEPT = {SHOWN.content: PICTURE, READ.content: DOCUMENT}
HERE = (ModelRef("here", "scripted"),)
ASKED = UserMessage("What is on it?", Label(), attachments=(SHOWN, READ))


def shown_by_call(reply: Reply) -> tuple[Message, ...]:
    """What a tool answers with the same picture and document."""
    from stead.domain.messages import AssistantMessage

    result = ToolResult(CallKey("call_1_0"), "read", "[files]", Label(), attachments=(SHOWN, READ))
    return AssistantMessage(reply.parts), ResultsMessage((result,))


@pytest.mark.parametrize("wire", ["openai", "anthropic", "google"])
async def test_the_same_picture_and_document_go_to_every_vendor_and_the_prefix_stays(
    wire: str, make_models: MakeModels
) -> None:
    """P2 holds with parts, and the vendors' own types know every field."""
    turns = [Turn(calls=(Call("read", {"path": "plan.png"}),)), Turn("A red plan."), Turn("As before.")]
    async with scripted_model(turns) as server:
        models = make_models(local("here", getattr(server, wire), wire), load=KEPT.__getitem__)
        messages: tuple[Message, ...] = (ASKED,)
        reply = await models.reply(ask(HERE, messages, number=1), lambda _: None)
        messages += shown_by_call(reply)
        reply = await models.reply(ask(HERE, messages, number=2), lambda _: None)
        messages += (UserMessage("And now?", Label()),)
        await models.reply(ask(HERE, messages, number=3), lambda _: None)
        requests = server.requests()
    assert server.flaws == []
    prompts = [seen.prompt for seen in requests]
    assert [later.startswith(earlier) for earlier, later in itertools.pairwise(prompts)] == [True, True]
    for data in (PICTURE, DOCUMENT):  # once with the words, once with the result
        assert prompts[1].count(b64encode(data)) == 2 and prompts[2].count(b64encode(data)) == 2
    for seen in requests:
        if wire == "openai":
            OPENAI.validate_python(seen.body)
        elif wire == "anthropic":
            ANTHROPIC.validate_python(seen.body)
        else:
            for content in seen.body["contents"]:
                CONTENT.model_validate(content)


async def test_a_server_that_refuses_pictures_is_told_their_names_and_that_is_recorded(make_models: MakeModels) -> None:
    refusal = Turn(status=400, error="this model does not support image input")
    async with scripted_model([refusal, Turn("I see its name alone."), Turn("Still.")]) as server:
        models = make_models(local("here", server.openai), load=KEPT.__getitem__)
        reply = await models.reply(ask(HERE, (ASKED,)), lambda _: None)
        again = await models.reply(ask(HERE, (ASKED,), number=2), lambda _: None)
        bodies = [seen.prompt.decode() for seen in server.requests()]
    assert [b64encode(PICTURE).decode() in body for body in bodies] == [True, False, False]
    assert "[picture plan.png 40x30, not shown: the provider refused it]" in bodies[1]
    assert "does not support image input" in reply.attempts[0] and "without attached files" in reply.attempts[0]
    assert again.attempts == ()


async def test_a_refusal_that_is_not_about_pictures_fails_as_it_did(make_models: MakeModels) -> None:
    from stead.domain.errors import ModelFault

    refusal = Turn(status=400, error="no")
    async with scripted_model([refusal, refusal, Turn("Yes.")]) as server:
        models = make_models(local("here", server.openai), load=KEPT.__getitem__)
        with pytest.raises(ModelFault):
            await models.reply(ask(HERE, (ASKED,)), lambda _: None)
        await models.reply(ask(HERE, (ASKED,), number=2), lambda _: None)
        assert b64encode(PICTURE).decode() in server.requests()[-1].prompt.decode()


@pytest.mark.parametrize(("model", "why"), [("gpt-3.5-turbo", "takes no pictures"), ("scripted", "not kept any more")])
async def test_what_a_model_is_not_shown_is_named(model: str, why: str, make_models: MakeModels) -> None:
    async with scripted_model([Turn("Yes.")]) as server:
        models = make_models(local("here", server.openai, model=model))
        await models.reply(ask((ModelRef("here", model),), (ASKED,)), lambda _: None)
        (seen,) = server.requests()
    assert "[picture plan.png 40x30, not shown: " in seen.prompt.decode() and why in seen.prompt.decode()
