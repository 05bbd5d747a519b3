"""Microsoft Teams: the process of a channel against strict doubles of login, keys and connector."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import jwt
import pytest

from stead.domain.channel_wire import (
    Ack,
    Button,
    Down,
    Edit,
    Fetch,
    FileOut,
    Probe,
    Request,
    Response,
    Send,
    Typing,
    Up,
    Update,
)
from tests.channels.driving import Driven, channel
from tests.egress.bench import make_certificate
from tests.fakes import http as fake_http
from tests.fakes.teams import APP, ISSUER, SECRET, TENANT, Failure, FakeTeams, Json, new_key, public, teams

CHANNEL = "19:general@thread.tacv2"


@pytest.fixture
async def fake() -> AsyncIterator[FakeTeams]:
    async with teams() as opened:
        yield opened


@asynccontextmanager
async def running(fake: FakeTeams, cursor: str = "", *, forked: bool = True, **settings: str) -> AsyncIterator[Driven]:
    given = {**fake.settings, **settings}
    async with channel("teams", given, {"secret": SECRET}, cursor=cursor, forked=forked) as driven:
        await driven.next(Up)
        yield driven
        assert SECRET.encode() not in driven.output and b"eyJ" not in driven.output


@pytest.fixture
async def bot(fake: FakeTeams) -> AsyncIterator[Driven]:
    async with running(fake) as driven:
        yield driven


def posted(activity: Json, authorization: str, body: bytes | None = None) -> Request:
    headers = {"content-type": "application/json", "authorization": authorization}
    return Request(0, "POST", "", headers, json.dumps(activity).encode() if body is None else body)


async def given(bot: Driven, fake: FakeTeams, activity: Json, **claims: object) -> Response:
    """The answer to an activity that is signed so."""
    return await bot.request(posted(activity, fake.signed(activity, **claims)))  # type: ignore[arg-type]


async def brought(bot: Driven, fake: FakeTeams, activity: Json) -> Update:
    """What an activity brings; it is answered once that is recorded."""
    answer = asyncio.create_task(given(bot, fake, activity))
    coming = asyncio.create_task(bot.next(Update))
    await asyncio.wait({answer, coming}, return_when=asyncio.FIRST_COMPLETED)
    assert not answer.done(), "it is not answered before it is recorded"
    update = await coming
    bot.tell(Ack(update.n))
    assert (await answer).status == 200
    return update


def send(chat: str, text: str, thread: str = "", **more: object) -> Send:
    return Send(0, "key", chat, thread, text, **more)  # type: ignore[arg-type]


async def test_it_says_who_it_is_and_that_the_secret_holds(fake: FakeTeams) -> None:
    async with channel("teams", fake.settings, {"secret": SECRET}) as driven:
        up = await driven.next(Up)
        assert up.account == APP and up.link.endswith(f"users=28:{APP}&message={{}}")
        assert (await driven.ask(Probe(0))).value == APP


async def test_everything_goes_through_the_proxy_that_the_environment_names(fake: FakeTeams) -> None:
    seen: list[str] = []

    async def relay(request: fake_http.Request, exchange: fake_http.Exchange) -> None:
        seen.append(request.path)
        await fake.handle(replace(request, path=request.path.removeprefix(fake.url)), exchange)

    async with fake_http.serve(relay) as port:
        proxy = {"HTTP_PROXY": f"http://127.0.0.1:{port}", "NO_PROXY": "*"}
        async with channel("teams", fake.settings, {"secret": SECRET}, environment=proxy) as driven:
            await driven.next(Up)
            await brought(driven, fake, fake.activity("Hi"))
            assert (await driven.ask(send("a:ann", "Hello"))).error == ""
    assert len(seen) == 4 and all(path.startswith(f"{fake.url}/") for path in seen)


async def test_a_certificate_of_ones_own_is_trusted_once_it_is_named(fake: FakeTeams, tmp_path: Path) -> None:
    tls, trusted = make_certificate(tmp_path, "localhost")
    async with fake_http.serve(fake.handle, tls=tls) as port:
        settings = {**fake.settings, "login": f"https://localhost:{port}"}
        async with channel("teams", settings, {"secret": SECRET}, ca=trusted.read_text()) as driven:
            await driven.next(Up)
        async with channel("teams", settings, {"secret": SECRET}) as driven:
            down = await driven.next(Down)
            assert not down.final and "CERTIFICATE_VERIFY_FAILED" in down.text


async def test_a_personal_message_is_taken_in_and_answered(fake: FakeTeams, bot: Driven) -> None:
    update = await brought(bot, fake, fake.activity("Where is *it*?"))
    assert (update.chat, update.thread, update.person, update.name) == ("a:ann", "", "aad-ann", "Person ann")
    assert (update.private, update.addressed, update.text) == (True, True, "Where is *it*?")
    done = await bot.ask(send("a:ann", "Here: **it** https://example.com"))
    (sent,) = fake.sent
    assert (done.value, sent["chat"]) == (sent["id"], "a:ann")
    assert (sent["text"], sent["textFormat"]) == ("Here: **it** https://example.com", "plain")


async def test_a_thread_of_a_channel_is_one_and_a_mention_addresses(fake: FakeTeams, bot: Driven) -> None:
    said = "<at>Helper</at>&nbsp;ask <at>Bob</at> please"
    update = await brought(bot, fake, fake.post(said, "1699"))
    assert (update.chat, update.thread, update.private, update.addressed) == (CHANNEL, "1699", False, True)
    assert update.text == "ask Bob please"
    update = await brought(bot, fake, fake.post("@Helper <at>Bob</at>, no tag is a name", "1699", mentioned=False))
    assert not update.addressed and update.text == "@Helper Bob, no tag is a name"
    done = await bot.ask(send(CHANNEL, "I did", "1699"))
    assert fake.sent[-1]["chat"] == f"{CHANNEL};messageid=1699" and done.value == f"1699/{fake.sent[-1]['id']}"
    assert (await bot.ask(Edit(0, CHANNEL, done.value, "I did so"))).error == ""
    assert (fake.edits[-1]["chat"], fake.edits[-1]["text"]) == (f"{CHANNEL};messageid=1699", "I did so")
    bot.tell(Typing(CHANNEL, "1699"))
    async with asyncio.timeout(20):
        while not fake.typing:
            await bot.ask(Probe(0))
    assert fake.typing == [f"{CHANNEL};messageid=1699"]


@pytest.mark.parametrize("how", ["Forward", "Reply"])
async def test_what_is_forwarded_or_quoted_counts_as_what_others_wrote(fake: FakeTeams, bot: Driven, how: str) -> None:
    update = await brought(bot, fake, fake.quoting("do as I say", "look at this", how=how))
    assert (update.text, update.forwarded) == ("look at this\r\n\r\ndo as I say", True)
    own = {
        "contentType": "text/html",
        "content": '<p><span itemtype="http://schema.skype.com/Mention">Helper</span> hi</p>',
    }
    assert not (await brought(bot, fake, fake.activity("Helper hi", attachments=[own]))).forwarded


async def test_buttons_are_cards_and_presses_come_back(fake: FakeTeams, bot: Driven) -> None:
    await brought(bot, fake, fake.post("<at>Helper</at> run it", "1700"))
    rows = ((Button("Allow", "ok:1"), Button("Deny", "no:1")), tuple(Button(f"{at}", f"c:{at}") for at in range(8)))
    done = await bot.ask(send(CHANNEL, "Run it?", "1700", buttons=rows))
    card = fake.sent[-1]["attachments"][0]["content"]
    assert [len(row["actions"]) for row in card["body"]] == [2, 6, 2]
    press = fake.post("", "1700") | {"value": {"press": "ok:1"}, "replyToId": fake.sent[-1]["id"]}
    update = await brought(bot, fake, press)
    assert (update.data, update.text) == ("ok:1", "") and update.press
    invoke = press | {"type": "invoke", "name": "adaptiveCard/action", "id": "f:77"}
    invoke |= {"value": {"action": {"type": "Action.Execute", "data": {"press": "no:1"}}, "trigger": "manual"}}
    answer = asyncio.create_task(given(bot, fake, invoke))
    update = await bot.update()
    assert update.data == "no:1" and json.loads((await answer).body)["statusCode"] == 200
    assert (await given(bot, fake, invoke | {"name": "composeExtension/query"})).status == 501
    assert (await bot.ask(Edit(0, CHANNEL, done.value, "Allowed"))).error == ""
    assert "attachments" not in fake.edits[-1]


async def test_files_of_people_are_brought_from_where_they_are_shared(fake: FakeTeams, bot: Driven) -> None:
    fake.files["1"] = b"\x89PNG" * 100
    inline = {"contentType": "image/png", "contentUrl": f"{fake.url}/files/1"}
    shared = {"contentType": "application/vnd.microsoft.teams.file.download.info", "name": "report.pdf"}
    good = {"downloadUrl": "https://example.sharepoint.com/x?tempauth=1", "uniqueId": "1", "fileType": "pdf"}
    evil = [
        {**shared, "content": {"downloadUrl": url}}
        for url in ("https://evil.example.com/x", "http://a.sharepoint.com/x", "https://a.sharepoint.com:8443/", 5)
    ]
    evil.append({"contentType": "image/png", "contentUrl": "https://evil.example.com/pixel.png"})
    html = {"contentType": "text/html", "content": "<p>Hi</p>"}
    activity = fake.activity("Look", attachments=[inline, {**shared, "content": good}, *evil, html, 7])
    update = await brought(bot, fake, activity)
    assert [(file.name, file.media_type) for file in update.files] == [("image.png", "image/png"), ("report.pdf", "")]
    assert (await bot.ask(Fetch(0, update.files[0].id))).data == b"\x89PNG" * 100
    assert (await bot.ask(Fetch(0, "other"))).final

    update = await brought(bot, fake, fake.shares("in.txt", b"Plums", "keep it", person="29:ann", chat="a:ann"))
    assert (update.text, [file.name for file in update.files]) == ("keep it", ["in.txt"])
    assert (await bot.ask(Fetch(0, update.files[0].id))).data == b"Plums", "the token did not go along"


PDF = FileOut("b.pdf", "application/pdf", b"%PDF" * 1000)


async def test_a_text_file_goes_as_text_and_a_person_is_asked_to_take_another(fake: FakeTeams, bot: Driven) -> None:
    await brought(bot, fake, fake.activity("Hi"))
    done = await bot.ask(send("a:ann", "Two files", files=(FileOut("a.csv", "text/csv", b"1,2\n"), PDF)))
    assert done.value == fake.sent[0]["id"]
    assert [one["text"] for one in fake.sent[:2]] == ["Two files", "a.csv:\n1,2\n"]
    from microsoft_agents.activity.teams import FileConsentCard

    (asked,) = fake.sent[2]["attachments"]
    assert FileConsentCard.model_validate(asked["content"]).size_in_bytes == 4000
    assert (await given(bot, fake, fake.consents(fake.sent[2]))).status == 200
    (card,) = fake.sent[3]["attachments"]
    assert (asked["name"], card["name"]) == ("b.pdf", "b.pdf")
    assert fake.drive[card["content"]["uniqueId"]] == PDF.data
    assert (await given(bot, fake, fake.consents(fake.sent[2]))).status == 404, "it was given already"
    assert len(fake.sent) == 4


async def test_what_no_person_can_take_is_said_not_to_be_attached(fake: FakeTeams, bot: Driven) -> None:
    await brought(bot, fake, fake.post("<at>Helper</at> hi", "1699"))
    await bot.ask(send(CHANNEL, "A file", "1699", files=(PDF,)))
    await bot.ask(send("a:ann", "", files=(FileOut("b.pdf", "application/pdf", b""),)))
    assert [one["text"].partition(":")[0] for one in fake.sent] == ["A file", *["b.pdf could not be attached"] * 2]


async def test_a_file_is_put_only_where_people_have_theirs_and_only_in_its_own_chat(
    fake: FakeTeams, bot: Driven
) -> None:
    await brought(bot, fake, fake.activity("Hi"))
    await bot.ask(send("a:ann", "", files=(PDF,)))
    agreed = fake.consents(fake.sent[0])
    for url in (
        "https://evil.example.com/x",
        f"http://127.0.0.1:{fake.port + 1}/x",
        "http://a.sharepoint.com/x",
        "",
        5,
    ):
        value = agreed["value"] | {"uploadInfo": {"uploadUrl": url}}
        assert (await given(bot, fake, agreed | {"value": value})).status == 403, url
    for value in (None, 7, agreed["value"] | {"context": {"file": "other"}}, agreed["value"] | {"context": None}):
        assert (await given(bot, fake, agreed | {"value": value})).status == 404, value
    stranger = fake.consents(fake.sent[0] | {"chat": "a:bob"}, person="29:bob")
    assert (await given(bot, fake, stranger)).status == 404
    fake.drive.clear()
    assert (await given(bot, fake, agreed)).status == 503, "it was not taken there, and can be tried again"
    assert (await given(bot, fake, fake.consents(fake.sent[0], accepts=False))).status == 200
    assert (await given(bot, fake, agreed)).status == 404, "it was not wanted"
    assert fake.sent[1:] == [] and not any(fake.drive.values())


async def test_few_files_wait_to_be_taken(fake: FakeTeams, bot: Driven) -> None:
    await brought(bot, fake, fake.activity("Hi"))
    for at in range(6):
        await bot.ask(Send(0, f"key {at}", "a:ann", "", "", files=(PDF,)))
    first, *others = list(fake.sent)
    assert (await given(bot, fake, fake.consents(first))).status == 404
    for asked in others:
        assert (await given(bot, fake, fake.consents(asked))).status == 200


async def test_what_no_token_vouches_for_brings_nothing(fake: FakeTeams, bot: Driven) -> None:
    activity, now = fake.activity("forged"), int(time.time())
    fake.keys["key-2"] = fake.keys["key-1"]
    good = fake.signed(activity)
    head, claims, signature = good.removeprefix("Bearer ").split(".")
    stranger = FakeTeams()
    for authorization in (
        "",
        "Bearer ",
        "Bearer x.y.z",
        f"Basic {good[7:]}",
        f"{good}, {good}",
        f"Bearer {head}.{claims}.",
        f"Bearer {head}.{claims}.{signature[:-4]}AAAA",
        f"Bearer {claims}.{claims}.{signature}",
        stranger.signed(activity),
        fake.signed(activity, kid="unknown"),
        fake.signed(activity, kid="../keys"),
        fake.signed(activity, alg="none"),
        fake.signed(activity, alg="HS256"),
        fake.signed(activity, iss="https://sts.windows.net/x/"),
        fake.signed(activity, iss=None),
        fake.signed(activity, aud="9f2b1c3d-0000-4222-8333-444455556666"),
        fake.signed(activity, aud=None),
        fake.signed(activity, exp=now - 400, nbf=now - 4000),
        fake.signed(activity, exp=None),
        fake.signed(activity, nbf=now + 400),
        fake.signed(activity, exp="never"),
    ):
        assert (await bot.request(posted(activity, authorization))).status == 401, authorization
    assert fake.key_requests <= 2, "who names keys that there are not has them looked up once a minute at most"
    for method in ("GET", "PUT"):
        assert (await bot.request(Request(0, method, "", {"authorization": good}, b"{}"))).status == 401
    update = await brought(bot, fake, activity)
    assert update.text == "forged", "nothing came before it"
    again = await brought(bot, fake, activity)
    assert again.id == update.id, "a copy has the same id"


async def test_a_token_for_one_address_vouches_for_no_other(fake: FakeTeams) -> None:
    async with running(fake) as bot:
        evil = fake.activity("evil", serviceUrl="https://evil.example.com/")
        assert (await given(bot, fake, evil)).status == 403, "it is signed, and is no host of the connector"
        assert (await given(bot, fake, evil, serviceurl=fake.service)).status == 403
        moved = fake.activity("moved", serviceUrl="https://smba.trafficmanager.net/emea/")
        assert (await given(bot, fake, moved, serviceurl=fake.service)).status == 403
        assert (await given(bot, fake, fake.activity("unnamed"), serviceurl=None)).status == 403
        for changed in (
            {"channelId": "directline"},
            {"recipient": {"id": "28:another"}},
            {"conversation": {"id": "a:ann", "conversationType": "personal", "tenantId": "another"}},
            {"conversation": {"id": "a:ann", "conversationType": "personal"}},
            {"serviceUrl": "https://smba.trafficmanager.net@evil.example.com/"},
            {"serviceUrl": "https://smba.trafficmanager.net.evil.example.com/"},
            {"serviceUrl": "http://smba.trafficmanager.net/emea/"},
            {"serviceUrl": "https://[::1"},
        ):
            assert (await given(bot, fake, fake.activity("x", **changed))).status == 403, changed
        done = await bot.ask(send("a:ann", "Hello"))
        assert "no one has written" in done.error and fake.sent == []
    fake.endorsements = ["webchat"]
    async with running(fake) as bot:
        assert (await given(bot, fake, fake.activity("x"))).status == 403, "its key does not stand for Teams"


async def test_keys_that_change_are_read_again(fake: FakeTeams) -> None:
    fake.keys = {"old": new_key()}
    async with running(fake) as bot:
        activity = fake.activity("still")
        assert (await given(bot, fake, activity, key="old", kid="old", aud="x")).status == 401
        answer = asyncio.create_task(given(bot, fake, activity, key="old"))
        assert (await bot.update()).text == "still" and (await answer).status == 200
        assert fake.key_requests == 1, "keys are kept"


async def test_a_key_that_cannot_be_is_passed_over_and_those_by_its_side_hold(fake: FakeTeams) -> None:
    good = public("odd", fake.keys["key-1"])
    fake.odd_keys = [5, None, "key-1", [], {}, {"kid": 7}, {**good, "n": 7}, {**good, "e": None}, {**good, "kty": "EC"}]
    fake.odd_keys += [{**good, "e": "Ag"}, {**good, "e": "!"}, {**good, "n": "AQ"}, {**good, "endorsements": "msteams"}]
    fake.odd_keys += [{**good, "kid": "key-1", "e": "Ag"}]
    async with running(fake) as bot:
        answer = asyncio.create_task(given(bot, fake, fake.activity("still")))
        assert (await bot.update()).text == "still" and (await answer).status == 200
        assert (await given(bot, fake, fake.activity("x"), kid="odd")).status == 401
    fake.keys = {}
    async with channel("teams", fake.settings, {"secret": SECRET}) as bot:
        assert "none of its set can be used" in (await bot.next(Down)).text


async def test_what_is_vouched_for_and_cannot_be_read_ends_nothing(fake: FakeTeams, bot: Driven) -> None:
    good = fake.activity("x")
    signature = fake.signed(good)
    bodies = [b"", b"\xff", b"[]", b"{}", b"7", b"[" * 100_000, json.dumps({**good, "conversation": 5}).encode()]
    for body in bodies:
        assert (await bot.request(posted(good, signature, body))).status == 400, body[:50]
    for passed in (
        good | {"type": "messageUpdate"},
        good | {"type": "conversationUpdate", "membersAdded": [{"id": "29:x"}]},
        good | {"type": "messageReaction"},
        good | {"from": {"id": "28:another-bot", "name": "Bot"}},
        good | {"from": {}},
        good | {"id": ""},
        good | {"text": None, "entities": [7, None], "attachments": [None, {}], "value": [1]},
    ):
        assert (await given(bot, fake, passed)).status == 200, passed
    assert (await brought(bot, fake, fake.activity("still here"))).text == "still here"


async def test_where_to_answer_is_known_after_a_start_and_only_among_its_own(fake: FakeTeams) -> None:
    async with running(fake) as bot:
        cursor = (await brought(bot, fake, fake.activity("Hi"))).cursor
    async with running(fake, cursor) as bot:
        assert (await bot.ask(send("a:ann", "Hello again"))).error == ""
    async with running(fake, "https://evil.example.com/") as bot:
        assert "no one has written" in (await bot.ask(send("a:ann", "Hello"))).error


async def test_a_wish_to_be_left_alone_is_told_and_faults_end_nothing(fake: FakeTeams, bot: Driven) -> None:
    await brought(bot, fake, fake.activity("Hi"))
    before = fake.requests
    fake.fails = [Failure(429, {"retry-after": "17"})]
    done = await bot.ask(send("a:ann", "Hello"))
    assert (done.after_s, done.final, fake.requests) == (17, False, before + 1)
    for failure in (Failure(), Failure(200, body=b"<html>"), Failure(502, body=b"\xff"), Failure(end="drop")):
        fake.fails = [failure]
        done = await bot.ask(send("a:ann", "Hello"))
        assert done.error and not done.final and "eyJ" not in done.error, failure
    fake.fails = [Failure(403)]
    assert (await bot.ask(send("a:ann", "Hello"))).final
    fake.tokens.append("another, as the one before was taken back")
    assert not (await bot.ask(send("a:ann", "Hello"))).final
    assert (await bot.ask(send("a:ann", "Hello"))).error == ""


async def test_a_secret_that_was_revoked_is_the_end(fake: FakeTeams) -> None:
    async with running(fake) as bot:
        fake.revoked = True
        assert (await bot.ask(Probe(0))).error
        assert (await bot.next(Down)).final
        fake.revoked = False
    async with channel("teams", fake.settings, {"secret": "another"}) as bot:
        down = await bot.next(Down)
        assert down.final and SECRET not in down.text


async def test_nothing_is_lost_when_the_process_is_killed_at_any_time(fake: FakeTeams) -> None:
    await killed_often(fake, 4)


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_nothing_is_lost_when_the_process_is_killed_a_hundred_times(fake: FakeTeams) -> None:
    await killed_often(fake, 60)


async def killed_often(fake: FakeTeams, count: int) -> None:
    """What was not answered with 200 is delivered again; what was recorded may come again under the same id."""
    chance, cursor = random.Random(3), ""
    waiting = [fake.activity(f"number {at}") for at in range(count)]
    recorded: dict[str, str] = {}
    while waiting:
        async with running(fake, cursor) as bot:
            while waiting:
                answer = asyncio.create_task(given(bot, fake, waiting[0]))
                update = await bot.next(Update)
                recorded.setdefault(update.id, update.text)
                cursor = update.cursor
                if (fate := chance.random()) < 0.3:
                    answer.cancel()
                    break
                bot.tell(Ack(update.n))
                if fate < 0.5:
                    answer.cancel()
                    break
                assert (await answer).status == 200
                waiting.pop(0)
            await bot.kill()
    assert list(recorded.values()) == [f"number {at}" for at in range(count)]


async def test_an_idle_process_is_small(fake: FakeTeams) -> None:
    async with running(fake, forked=False) as bot:
        status = Path(f"/proc/{bot.process.pid}/status").read_text("ascii")
    assert int(status.split("VmRSS:")[1].split()[0]) <= 40 * 1024


async def test_a_token_that_another_library_makes_is_taken(fake: FakeTeams, bot: Driven) -> None:
    activity, now = fake.activity("hello"), int(time.time())
    claims = {"iss": ISSUER, "aud": APP, "nbf": now, "exp": now + 60, "serviceurl": fake.service}
    for head, status in (({"kid": "key-1"}, 200), ({"kid": "key-1", "crit": ["b64"]}, 401), ({}, 401)):
        token = jwt.encode(claims, fake.keys["key-1"], "RS256", headers=head)
        answer = asyncio.create_task(bot.request(posted(activity, f"Bearer {token}")))
        if status == 200:
            assert (await bot.update()).text == "hello"
        assert (await answer).status == status, head


async def test_the_vendors_own_client_accepts_the_double(fake: FakeTeams) -> None:
    from microsoft_agents.activity import Activity
    from microsoft_agents.activity.teams import FileConsentCardResponse, FileUploadInfo
    from microsoft_agents.hosting.core.connector.client.connector_client import ConnectorClient

    read = Activity.model_validate(fake.post("<at>Helper</at> hello", "1699"))
    assert (read.get_mentions()[0].mentioned.id, read.conversation.tenant_id) == (f"28:{APP}", TENANT)
    asked = {
        "attachments": [{"name": "b.pdf", "content": {"acceptContext": {"file": "key/0"}}}],
        "chat": "a:ann",
        "id": "1",
    }
    consent = FileConsentCardResponse.model_validate(fake.consents(asked)["value"])
    assert FileUploadInfo.model_validate(consent.upload_info).upload_url and consent.context == {"file": "key/0"}
    fake.tokens.append("eyJexample.of.another.client")
    client = ConnectorClient(fake.service, fake.tokens[-1])
    try:
        message = Activity(type="message", text="Hello", text_format="plain")
        told = await client.conversations.send_to_conversation("a:ann", message)
        changed = await client.conversations.update_activity("a:ann", told.id, message)
        assert told.id == changed.id == fake.sent[-1]["id"] and fake.edits[-1]["text"] == "Hello"
    finally:
        await client.close()
