"""Every event that there is loses the words that somebody wrote, and stays the event that it is."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import msgspec
import pytest

from stead.domain import events as ev
from stead.domain.forgetting import FORGOTTEN
from stead.domain.memory import Memory, MemoryId, Scope
from stead.domain.memory_events import ContentRedacted, ForgetReceipt, LoadedFile, Redacted
from stead.domain.messages import Text, Thinking
from stead.domain.policies import GrantScope, Label, PlannedCall
from stead.domain.redacting import blank, has, names, redacted, texts
from stead.domain.sessions import PERSON
from stead.storage.codec import decode, encode
from tests.storage.drafts import replied

GOLDEN = sorted((Path(__file__).parents[1] / "events" / "v1").glob("*.json"))


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_a_blank_event_can_be_read_and_has_no_text(file: Path) -> None:
    body = decode(file.stem, 1, file.read_bytes())
    without = redacted(body, blank)
    assert decode(*encode(without)) == without
    assert type(without) is type(body)
    if isinstance(body, ev.BindingFact):
        assert without == body
    else:
        assert {text for text in texts(without) if text.strip()} <= {FORGOTTEN}


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_an_event_without_the_words_stays_as_it_is(file: Path) -> None:
    body = decode(file.stem, 1, file.read_bytes())
    assert redacted(body, lambda text: text) == body


def test_sealed_thinking_is_kept_for_nobody_once_it_is_changed() -> None:
    parts = (Thinking("of Ada", "sealed", "acme"), Thinking("of tea", "sealed", "acme"), Text("Ada"))
    body = redacted(msgspec.structs.replace(replied(), parts=parts), lambda text: text.replace("Ada", FORGOTTEN))
    assert isinstance(body, ev.ModelReplied)
    assert body.parts == (Thinking(f"of {FORGOTTEN}", "", ""), Thinking("of tea", "sealed", "acme"), Text(FORGOTTEN))


def test_what_was_allowed_in_forgotten_words_is_allowed_no_more() -> None:
    """Two hosts that are both called [forgotten] would stand for each other."""

    def clean(text: str) -> str:
        return text.replace("ada.example", FORGOTTEN)

    trusted = ev.SourcesTrusted(("web:ada.example", "web:bo.example"), "mail", "cli")
    assert redacted(trusted, clean) == ev.SourcesTrusted(("web:bo.example",), "mail", "cli")
    grant = ev.GrantMade("fetch", "any", GrantScope.SESSION, "", 9, "cli", ("web:ada.example",))
    assert redacted(grant, clean) == msgspec.structs.replace(grant, sources=())
    planned = decode("plan.made", 1, (GOLDEN[0].parent / "plan.made.json").read_bytes())
    assert isinstance(planned, ev.PlanMade)
    call = PlannedCall(**{**msgspec.structs.asdict(planned.calls[0]), "tool": "mail"}) if planned.calls else None
    if call is not None:
        emptied = redacted(msgspec.structs.replace(planned, calls=(call,)), blank)
        assert isinstance(emptied, ev.PlanMade)
        assert emptied.calls == ()


def test_what_a_model_was_told_of_a_memory_goes_whole() -> None:
    told = ev.MemoryRecalled((ev.Told("m_1", "one", ()), ev.Told("m_2", "two", ())), (), Label())
    kept = redacted(told, lambda text: text, {MemoryId("m_1")})
    assert isinstance(kept, ev.MemoryRecalled)
    assert [one.text for one in kept.told] == [FORGOTTEN, "two"]


def test_a_record_of_forgetting_has_no_text() -> None:
    """Else three figures of a PIN would break a commitment, and with it the chain."""
    assert texts(ContentRedacted((Redacted(4711, "c0ffee4711"),))) == ()
    assert texts(ev.ForgettingBegun((MemoryId("m_1"),), (4711,), ("2:c0ffee",), "cli")) == ()
    assert texts(ev.MemoryForgotten(1, ForgetReceipt((), (), ("2:c0ffee",), ("a",), ("b",), ("c",), "5e"))) == (
        "a",
        "b",
        "c",
    )
    assert redacted(ev.RuleRemoved("r_c0ffee", "cli"), blank) == ev.RuleRemoved("r_c0ffee", "cli")


def test_a_receipt_that_says_something_else_is_not_signed() -> None:
    said = ev.MemoryForgotten(1, ForgetReceipt((), (), (), ("notes of Ada",), (), (), "5e"))
    body = redacted(said, lambda text: text.replace("Ada", FORGOTTEN))
    assert isinstance(body, ev.MemoryForgotten)
    assert (body.receipt.scanned, body.receipt.signature) == ((f"notes of {FORGOTTEN}",), "")


def test_the_digest_of_a_text_goes_with_it() -> None:
    """Whoever has a digest and all but four figures of its text has these soon."""

    def digest(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()

    def clean(text: str) -> str:
        return text.replace("4711", FORGOTTEN)

    pin, tea = "The PIN is 4711.", "Ada likes tea."
    loaded = ev.MemoryLoaded(tuple(LoadedFile("user.md", text, digest(text)) for text in (pin, tea)), Label())
    rules = ev.ProjectRulesRead((ev.RulesFile("AGENTS.md", pin, digest(pin), cut=True),), Label())
    for body, kept in ((redacted(loaded, clean), digest(tea)), (redacted(rules, clean), "")):
        assert isinstance(body, ev.MemoryLoaded | ev.ProjectRulesRead)
        assert body.files[0].sha256 == digest(clean(pin)) == digest(body.files[0].text)
        assert [file.sha256 for file in body.files[1:]] == [kept] * bool(kept)


def test_numbers_and_names_of_fields_say_nothing() -> None:
    held = Memory(MemoryId("m_0000000000004711"), "knowledge", "Tea.", Scope(), "user_said", PERSON, 1_785_471_100_000)
    body = ev.MemoryMade(held, "cli")
    for word in ("4711", "knowledge", "text", "person", "user_said"):
        assert word.encode() in msgspec.json.encode(body)
        assert not has(body, re.compile(word).search)
    assert has(body, lambda text: "Tea" in text)
    assert has(body, lambda text: "cli" in text)
    assert names(body) == ("cli",)
