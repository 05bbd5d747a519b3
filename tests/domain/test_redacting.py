"""Every event that there is loses the words that somebody wrote, and stays the event that it is."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from stead.domain import events as ev
from stead.domain.forgetting import FORGOTTEN
from stead.domain.memory import MemoryId
from stead.domain.memory_events import ContentRedacted
from stead.domain.messages import Text, Thinking
from stead.domain.policies import GrantScope, Label, PlannedCall
from stead.domain.redacting import BINDING, blank, redacted, texts
from stead.storage.codec import decode, encode
from tests.storage.drafts import replied

GOLDEN = sorted((Path(__file__).parents[1] / "events" / "v1").glob("*.json"))


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_a_blank_event_can_be_read_and_has_no_text(file: Path) -> None:
    body = decode(file.stem, 1, file.read_bytes())
    without = redacted(body, blank)
    assert decode(*encode(without)) == without
    assert type(without) is type(body)
    if isinstance(body, BINDING):
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
    assert texts(ContentRedacted(())) == ()
