"""A secret goes to the session that it was given to, to the host that it is bound to, and into one part of a request.

The confused deputies: a session that was given nothing and meets a placeholder, a part of a request that other people
read, a second copy beside the right one, and readers that disagree about where a field is.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest

from stead.domain import events as ev
from stead.domain.bindings import fills, require_host_binding
from stead.domain.ends import WELL
from stead.domain.errors import InvalidRequest
from stead.domain.folding import begin
from stead.domain.ids import CommandId, SessionId
from stead.domain.secrets import Filler, HostBinding, Known, RequestHead, mark_of, placeholder_of
from stead.egress.filling import Filling
from stead.screen.redaction import Redactor
from tests.egress.bench import Book
from tests.fakes.models import Call, Seen, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import in_thread, served
from tests.flows.test_bound_secrets import echoing
from tests.machines.bench import SESSION
from tests.promises import promise

VALUE = "ghp_correcthorsebatterystaple4711abcd"
HOST = "forge.example.com"
KEY = bytes(range(32))
OWN = re.compile(r"\{\{secret:forge#[0-9a-f]{16}\}\}")
HEAD = RequestHead("http", HOST, "POST", "/gists")
FORM = "application/x-www-form-urlencoded"


def filling(*places: str) -> tuple[Filling, Filler, str]:
    """One request to the host that a secret is bound to in these places, and the secret's placeholder."""
    book = Book()
    held = book.add("forge", VALUE, *(HostBinding(HOST, place=place) for place in places))
    filler = Filler(book, SESSION, HEAD)
    return Filling(filler), filler, held


@promise("SEC-7.bound")
@pytest.mark.parametrize(
    ("media_type", "body"),
    [
        ("application/json", '{"public": true, "content": "the key is %s"}'),
        ("application/json", '{"token": {"token": "%s"}}'),
        ("application/json", '{"token": ["%s"]}'),
        ("application/json", '[{"token": "%s"}]'),
        ("application/json", '"%s"'),
        ("application/json", '{"Token": "%s"}'),
        ("application/json", '{"token ": "%s"}'),
        ("application/json", '{"%s": "token"}'),
        ("application/json", '{"token": "%s"'),
        ("application/json", '{"token": "%s"} {"token": "%s"}'),
        ("application/json", '\ufeff{"token": "%s"}'),
        ("application/vnd.forge+json", '{"text": "token: %s"}'),
        (FORM, "text=%s"),
        (FORM, "token%%5B%%5D=%s"),
        (FORM, "%s=token"),
        (FORM, "Token=%s"),
        (FORM, "text=token=%s"),
        (FORM, "text=token;token=%s"),
        ("text/plain", "token=%s"),
        ("", '{"token": "%s"}'),
        ("multipart/form-data", '--x\r\nContent-Disposition: form-data; name="token"\r\n\r\n%s\r\n--x--'),
        ("application/xml", "<token>%s</token>"),
    ],
)
@pytest.mark.parametrize("places", [("header",), ("header:authorization", "query:token", "body:token")])
def test_no_body_is_filled_but_in_the_very_field_of_a_binding(
    media_type: str, body: str, places: tuple[str, ...]
) -> None:
    parts, filler, held = filling(*places)
    sent = parts.body(body.replace("%%", "%").replace("%s", held).encode(), media_type)
    assert VALUE.encode() not in sent and not filler.used and "forge" in filler.left


@promise("SEC-7.bound")
@pytest.mark.parametrize(
    ("media_type", "body"),
    [
        ("application/json", '{"public": "%s", "token": "%s"}'),
        ("application/json", '{"token": "%s %s"}'),
        ("application/json", '{"token": "%s", "token": "%s"}'),
        ("application/json", '{"token": "\\u007b{secret:forge#0a1b2c3d}}", "public": "%s"}'),
        (FORM, "token=%s&token=%s"),
        (FORM, "public=%s&token=%s&public=%s"),
    ],
)
def test_a_field_of_a_binding_is_filled_once_and_nothing_beside_it(media_type: str, body: str) -> None:
    parts, filler, held = filling("body:token")
    sent = parts.body(body.replace("%s", held).encode(), media_type).decode()
    assert sent.count(VALUE) == 1 and list(filler.used) == ["forge"]
    if media_type == FORM:
        assert f"token={VALUE}" in sent and f"public={VALUE}" not in sent
    else:
        assert VALUE in json.loads(sent)["token"] and VALUE not in json.loads(sent).get("public", "")


@pytest.mark.parametrize("place", ["header", "header:authorization", "query:token"])
def test_a_value_goes_into_one_part_of_a_request_and_never_into_its_path_or_a_second_part(place: str) -> None:
    parts, filler, held = filling(place)
    escaped = quote(held, safe="")
    basic = b"Basic " + base64.b64encode(f"ada:{held}".encode())
    sent = [
        parts.header(b"x-title", held.encode()) if place != "header" else b"",
        parts.header(b"authorization", basic),
        parts.header(b"x-description", held.encode()),
        parts.header(b"referer", f"http://{HOST}/{held}".encode()),
        parts.header(b"cookie", f"a={held}; b={held}".encode()),
        parts.target(f"/{escaped}/{held}?text={escaped}&{escaped}=x&token={escaped}&token={escaped}").encode(),
    ]
    plain = [one if one != sent[1] else base64.b64decode(one.removeprefix(b"Basic ")) for one in sent]
    assert [VALUE.encode() in one for one in plain].count(True) == 1
    assert sum(one.count(VALUE.encode()) for one in plain) == 1
    assert plain[5 if place == "query:token" else 1].count(VALUE.encode()) == 1
    assert VALUE not in sent[5].decode().partition("?")[0] and list(filler.used) == ["forge"]


@pytest.mark.parametrize(
    ("place", "part", "yes"),
    [
        ("header", "header:x-key", True),
        ("header", "query:header", False),
        ("header:x-key", "header:x-key", True),
        ("header:x-key", "header:x-key2", False),
        ("header:x-key", "header", False),
        ("query:key", "body:key", False),
        ("query:key", "query:Key", False),
        ("body:key", "body:key", True),
        ("body:key", "", False),
    ],
)
def test_a_binding_is_for_the_part_that_it_names(place: str, part: str, yes: bool) -> None:
    assert fills(HostBinding(HOST, place=place), part) is yes


@pytest.mark.parametrize(
    "place",
    ["", "headers", "header:", "header:X-Key", "header:a b", "query", "query:", "body", "body:a b", "path", "*"],
)
def test_a_binding_to_no_part_or_to_many_is_refused(place: str) -> None:
    with pytest.raises(InvalidRequest, match="no part of a request"):
        require_host_binding(HostBinding(HOST, place=place))


def test_a_binding_of_before_is_for_headers_alone() -> None:
    golden = (Path(__file__).parent.parent / "events/v1/secret.bound.json").read_bytes()
    bound = msgspec.json.decode(golden, type=ev.SecretBound)
    assert isinstance(bound.binding, HostBinding) and bound.binding.place == "header"


def test_a_placeholder_is_one_sessions_own_and_a_mark_is_nobodys() -> None:
    sessions = [SessionId(f"s_{number:016d}") for number in range(50)]
    minted = {placeholder_of(KEY, "forge", version, session) for session in sessions for version in (1, 2)}
    assert len(minted) == 100 and all(OWN.fullmatch(one) for one in minted)
    assert not OWN.fullmatch(mark_of(KEY, "forge", 1))


@pytest.mark.parametrize("value", ["deadbeef", "0123456789abcdef", "forge", "secret", VALUE])
def test_placeholders_stay_whole_in_cleaned_texts_and_no_value_hides_in_one(value: str) -> None:
    known = Known("forge", mark_of(KEY, "forge", 1), value)
    redactor = Redactor([known])
    own = placeholder_of(KEY, "forge", 1, SESSION)
    text = f"use {own} and {known.placeholder}; password: {own}"
    assert redactor.clean(text) == text
    if len(value) in (8, 16) and not value.startswith("ghp"):
        assert value not in redactor.clean(f"{{{{secret:forge#{value}}}}}").replace(known.placeholder, "")


def test_bound_hosts_are_told_to_the_model_and_are_no_words_of_the_person() -> None:
    created = json.loads((Path(__file__).parent.parent / "events/v3/session.opened.json").read_text("utf-8"))
    secret = {"name": "forge", "version": 1, "placeholder": "x", "bindings": [{"type": "host", "host": HOST}]}
    body = msgspec.convert({**created, "secrets": [secret]}, ev.SessionOpened)
    session = begin(ev.Event(1, SESSION, 1, 0, "person", CommandId(""), body))
    assert HOST in msgspec.json.encode(session.messages).decode()
    assert session.words and HOST not in " ".join(session.words)


@promise("SEC-7.bound", "SEC-7.placeholders")
def test_what_one_session_was_given_serves_no_other_whatever_it_meets(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / ".env").write_text(f"TOKEN={VALUE}\n", "utf-8")
    with in_thread(echoing()) as forge:
        env = {"FETCH_PORT": str(forge.port), "FETCH_TRUST": ""}
        house = LivingHome(tmp_path / "home", env, "tests.flows.loopback_daemon", forked=True)
        reached = f"{HOST}:{forge.port}"
        post = (
            f"curl -sS -H 'Authorization: token KEY' -H 'Content-Type: application/json' "
            f"""-d '{{"public":true,"content":"the key is KEY"}}' 'http://{reached}/URL?q=URL'"""
        )

        def script(seen: Seen) -> Turn:
            """Read what is there, then publish by every placeholder that was met."""
            told = json.dumps(seen.body["messages"])
            met = list(dict.fromkeys(re.findall(r"\{\{secret:forge#[0-9a-f]+\}\}", told)))
            (project / "learned.txt").write_text("\n".join([*met, "{{secret:forge#" + "0" * 16 + "}}"]), "utf-8")
            if seen.body["messages"][-1]["role"] == "user":
                return Turn("", calls=(Call("shell", {"command": "cat .env .learned 2>&1"}),))
            if "all-sent" in told or not met:
                return Turn("Done.")
            commands = "; ".join(post.replace("KEY", one).replace("URL", quote(one, safe="")) for one in met)
            return Turn("", calls=(Call("shell", {"command": f"{commands}; echo all-sent", "hosts": [reached]}),))

        house.start()
        try:
            house.post("/secrets", {"name": "forge", "value": VALUE})
            house.post("/secrets/forge/bindings", {"binding": {"type": "host", "host": HOST}})
            with served(script) as model:
                use_model(house, model.openai)
                given = house.give("publish it", project, secrets=["forge"])
                assert house.finish(given, answer="once", timeout_s=60)["status"] in WELL
                own = OWN.search((project / "learned.txt").read_text("utf-8"))
                assert own is not None
                filled = [one for one in forge.requests if VALUE in str(one.headers)]
                assert len(filled) == 1 and filled[0].headers["authorization"] == f"token {VALUE}"
                assert not any(VALUE in one.path or VALUE.encode() in one.body for one in forge.requests)
                forge.requests.clear()
                (project / ".learned").write_text(own[0], "utf-8")
                other = house.give(f"publish it again by {own[0]}", project)
                assert house.finish(other, answer="once", timeout_s=60)["status"] in WELL
                house.kill()
                house.start()
                fork = str(house.post(f"/sessions/{given}/fork", {})["session"])
                house.post(f"/sessions/{fork}/messages", {"text": "publish it once more"})
                house.until(lambda: bool(_answered(house, fork)), "the fork to end its turn")
        finally:
            house.stop()
    assert len(forge.requests) >= 2
    assert all(VALUE not in f"{one.headers} {one.path} {one.body.decode()}" for one in forge.requests)


def _answered(house: LivingHome, id: str) -> bool:
    """Say yes to whatever is asked; whether the turn is over."""
    for question in house.get("/approvals", session=id)["items"]:
        house.post(f"/approvals/{question['id']}/decision", {"answer": "once", "digest": question["digest"]})
    return bool(house.bodies(id, "turn.ended"))
