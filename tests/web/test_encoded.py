"""Envelopes that watchers share are made once, and none outlives the words that were forgotten."""

from __future__ import annotations

from stead.domain import events as ev
from stead.domain.ids import CommandId
from stead.domain.memory_events import ContentRedacted
from stead.web.envelopes import Encoded
from tests.fakes.world import Ticking
from tests.storage.drafts import finished, session


def event(seq: int, body: ev.Body) -> ev.Event:
    return ev.Event(seq, session(1), seq, 0, "stead", CommandId(""), body)


def test_an_envelope_is_made_once_until_words_are_forgotten() -> None:
    encoded = Encoded(Ticking())
    said = event(1, finished("a phrase"))
    first = encoded.of(said)
    assert encoded.of(said) is first
    redacted = event(2, ContentRedacted(()))
    told = encoded.of(redacted)
    assert encoded.of(said) is not first
    assert encoded.of(redacted) is told  # it is forgotten once, not with every watcher
