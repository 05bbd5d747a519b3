"""Signatures of webhooks: what vendors publish as examples is known, and nothing near it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.domain.triggers import Form
from stead.domain.webhook_signatures import Signed, asked, sign, verify
from tests.fakes.webhook_senders import KEYS, SIGNERS, TIMED, delivery, signed

NOW_MS = 1_796_000_000_000
FORMS: tuple[Form, ...] = ("standard", "github", "stripe", "dropbox", "slack")


def headers_of(pairs: object) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in pairs:  # type: ignore[attr-defined]
        found.setdefault(name.lower(), []).append(value)
    return found


def test_the_examples_that_the_vendors_publish_are_known() -> None:
    key, body = "It's a Secret to Everybody", b"Hello, World!"
    made = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert isinstance(verify("github", key, {"x-hub-signature-256": [made]}, body, NOW_MS), Signed)
    body = (
        b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&"
        b"channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&"
        b"response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F"
        b"96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )
    of_slack = {
        "x-slack-request-timestamp": ["1531420618"],
        "x-slack-signature": ["v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"],
    }
    assert isinstance(verify("slack", "8f742231b10e8888abcd99yyyzzz85a5", of_slack, body, 1531420618000), Signed)
    standard = {
        "webhook-id": ["msg_p5jXN8AQM9LWM0D4loKWxJek"],
        "webhook-timestamp": ["1614265330"],
        "webhook-signature": ["v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="],
    }
    found = verify(
        "standard", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", standard, b'{"test": 2432232314}', 1614265330000
    )
    assert found == Signed("msg_p5jXN8AQM9LWM0D4loKWxJek")


@pytest.mark.parametrize("form", FORMS)
def test_nothing_but_the_key_the_body_and_the_time_that_were_signed_counts(form: Form) -> None:
    body, at = delivery("evt_1"), NOW_MS // 1000
    pairs = signed(form, body, "evt_1", at)
    key, headers = KEYS[form], headers_of(pairs)
    assert isinstance(verify(form, key, headers, body, NOW_MS), Signed)
    assert verify(form, KEYS["dropbox" if form != "dropbox" else "github"], headers, body, NOW_MS) != Signed("evt_1")
    assert verify(form, "", headers, body, NOW_MS) == "its signature is wrong", "no key opens nothing"
    assert verify(form, "", headers_of(signed_with_nothing(form, body, at)), body, NOW_MS) == "its signature is wrong"
    assert verify(form, key, headers, body + b" ", NOW_MS) == "its signature is wrong"
    assert verify(form, key, {}, body, NOW_MS) == "its signature is missing"
    doubled = {name: [*values, *values] for name, values in headers.items()}
    assert verify(form, key, doubled, body, NOW_MS) == "a header of its signature came twice"
    for other in FORMS:
        if other != form:
            assert isinstance(verify(other, KEYS[other], headers, body, NOW_MS), str)
    for shift_ms in (301_000, -302_000, 10**15):
        late = verify(form, key, headers, body, NOW_MS + shift_ms)
        assert isinstance(late, str) == (form in TIMED), shift_ms
    ours = headers_of(sign(form, key, "evt_1", body, NOW_MS).items())
    assert isinstance(verify(form, key, ours, body, NOW_MS), Signed)


def signed_with_nothing(form: Form, body: bytes, at: int) -> object:
    """As one who hopes that where there is no key an empty one opens."""
    return sign(form, "", "evt_1", body, at * 1000).items()


def test_a_delivery_is_known_by_what_is_signed_and_by_nothing_else() -> None:
    body = delivery("evt_1")
    for form in FORMS:
        ids = set()
        for id in ("first", "second"):
            pairs = [
                (name, id if name == "X-GitHub-Delivery" else value) for name, value in signed(form, body, "evt_1")
            ]
            found = verify(form, KEYS[form], headers_of(pairs), body, int(__import__("time").time() * 1000))
            assert isinstance(found, Signed)
            ids.add(found.delivery)
        assert len(ids) == 1, form
    of_slack = b"command=/deploy&text=now"
    found = verify("slack", KEYS["slack"], headers_of(signed("slack", of_slack, "", NOW_MS // 1000)), of_slack, NOW_MS)
    assert isinstance(found, Signed) and found.delivery
    ping = b'{"zen":"Keep it logically awesome.","hook_id":1}'
    assert verify("github", KEYS["github"], headers_of(signed("github", ping, "p")), ping, NOW_MS) == Signed("")


def test_a_vendors_question_is_answered_with_its_challenge_alone() -> None:
    assert asked("dropbox", [("challenge", "abc-123")]) == "abc-123"
    for odd in ([("challenge", "<script>")], [("challenge", "a"), ("challenge", "b")], [("x", "a")], []):
        assert asked("dropbox", odd) == ""
    assert asked("github", [("challenge", "abc")]) == "", "nobody else asks so"
    body = b'{"type":"url_verification","challenge":"3eZbrw1aB1"}'
    pairs = headers_of(signed("slack", body, "", NOW_MS // 1000))
    assert verify("slack", KEYS["slack"], pairs, body, NOW_MS) == Signed("", "3eZbrw1aB1")
    assert isinstance(verify("slack", "another key", pairs, body, NOW_MS), str), "the signature comes first"


_VALUES = st.lists(st.text(max_size=40) | st.sampled_from(["t=1,v1=", "v1,", "sha256=", "v0=", "1", "99999999999999"]))


@given(
    form=st.sampled_from(FORMS),
    values=st.lists(_VALUES, min_size=3, max_size=3),
    body=st.binary(max_size=200),
)
def test_whatever_is_sent_is_refused_and_never_a_fault(form: Form, values: list[list[str]], body: bytes) -> None:
    names = sorted({name.lower() for one in SIGNERS for name, _ in signed(one, b"", "x")})
    headers = {name: values[at % 3] for at, name in enumerate(names)}
    assert isinstance(verify(form, KEYS[form], headers, body, NOW_MS), str)
