"""Track records of models: counted with the events, by model, of the newest replies alone."""

from __future__ import annotations

import pytest

from stead.config import Home
from stead.domain import events as ev
from stead.domain.ids import CallDigest, CallKey, RequestNo
from stead.domain.messages import Text, ToolCall, Usage
from stead.domain.policies import Reason, Risk
from stead.domain.trust import WINDOW, TrackRecord
from stead.storage.journal import JournalFile, open_journal
from tests.storage.drafts import KEYS, session, stream

SMALL, LARGE = ev.ModelRef("lan", "small-1"), ev.ModelRef("lan", "large-1")


def asked(number: int, model: ev.ModelRef = SMALL, calls: int = 1) -> list[ev.Body]:
    """A request and its reply."""
    made = tuple(ToolCall(CallKey(f"call_{number}_{at}"), "read", "{}") for at in range(calls))
    return [
        ev.ModelRequested(RequestNo(number), "", 1, 100, ev.Spend(10)),
        ev.ModelReplied(
            RequestNo(number), made or (Text("Done."),), "stop", model, Usage(5, 5), ev.Spend(10), (), 5, 1
        ),
    ]


def judged(key: str, rule: str, verdict: str = "deny") -> ev.CallJudged:
    said = Reason(rule, "It is so.")
    return ev.CallJudged(CallKey(key), "read", "deny" if verdict == "deny" else "allow", said, Risk.LOW, CallDigest(""))


async def test_faults_send_backs_and_ends_are_counted_for_the_model_that_made_them(journal: JournalFile) -> None:
    await journal.append(
        stream(
            session(1),
            [
                *asked(1, calls=3),
                judged("call_1_0", "arguments"),
                judged("call_1_1", "unknown-tool"),
                judged("call_1_2", "not-offered"),
                judged("call_1_2.1", "arguments"),  # what an external agent asked for
                judged("check:c1", "arguments"),
                judged("call_1_0", "arguments", "allow"),
                *asked(2, LARGE, calls=0),
                ev.NoticeGiven("Not done yet.", "checks"),
                *asked(3, calls=0),
                ev.NoticeGiven("Nothing is shown.", "claim"),  # only one tier says so
                ev.ObjectiveEnded("verified", "done", ""),
            ],
        )
    )
    small = TrackRecord(replies=2, calls=3, malformed=1, unknown=2, verified=1, ends=1)
    assert journal.track_records.of(SMALL) == small
    assert journal.track_records.of(LARGE) == TrackRecord(replies=1, sent_back=1)
    assert journal.track_records.models() == [LARGE, SMALL]
    assert journal.track_records.of(ev.ModelRef("lan", "none")) == TrackRecord()


@pytest.mark.parametrize(
    ("end", "repeated", "ends"),
    [
        (ev.ObjectiveEnded("failed", "stall", ""), 1, 1),
        (ev.TurnEnded(1, "repetition", "", status="failed"), 1, 1),
        (ev.ObjectiveEnded("incomplete", "checks", ""), 0, 1),
        (ev.TurnEnded(1, "done", "", status="unverified"), 0, 1),
        (ev.ObjectiveEnded("incomplete", "budget", ""), 0, 0),
        (ev.ObjectiveEnded("failed", "model", ""), 0, 0),
        (ev.ObjectiveEnded("cancelled", "cancelled", ""), 0, 0),
    ],
)
async def test_limits_of_the_persons_say_nothing_of_a_model(
    journal: JournalFile, end: ev.ObjectiveEnded | ev.TurnEnded, repeated: int, ends: int
) -> None:
    await journal.append(stream(session(1), [*asked(1), end]))
    found = journal.track_records.of(SMALL)
    assert (found.repeated, found.ends, found.verified) == (repeated, ends, 0)


async def test_only_the_newest_replies_count_and_figures_outlive_their_session_and_a_restart(
    journal: JournalFile, home: Home
) -> None:
    bodies: list[ev.Body] = [*asked(1), judged("call_1_0", "arguments")]
    await journal.append(stream(session(1), [*bodies, ev.SessionDeleted()]))
    await journal.erase(session(1))
    assert journal.track_records.of(SMALL).malformed == 1
    await journal.append(stream(session(2), [body for number in range(1, WINDOW + 1) for body in asked(number)]))
    found = journal.track_records.of(SMALL)
    assert found == TrackRecord(replies=WINDOW, calls=WINDOW)
    journal.close()
    again = open_journal(home.journal, KEYS)
    assert again.track_records.of(SMALL) == found
    again.close()
