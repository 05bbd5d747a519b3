"""Trust tiers as a track record comes to them: least figures, bounds, and no changing back and forth."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from stead.domain.trust import LEAST_CALLS, LEAST_ENDS, LEAST_REPLIES, VERIFIED, WINDOW, Tier, TrackRecord, measured

TIERS: tuple[Tier, ...] = ("strict", "normal", "trusted")
tiers = st.sampled_from(TIERS)


@st.composite
def records(draw: st.DrawFn) -> TrackRecord:
    """Any track record that the counting can come to."""
    replies = draw(st.integers(0, WINDOW))
    calls = draw(st.integers(0, 4 * replies))
    ends = draw(st.integers(0, replies))
    repeated = draw(st.integers(0, ends))
    return TrackRecord(
        replies=replies,
        calls=calls,
        malformed=draw(st.integers(0, calls)),
        unknown=draw(st.integers(0, calls)),
        sent_back=draw(st.integers(0, replies - ends)),
        repeated=repeated,
        verified=draw(st.integers(0, ends - repeated)),
        ends=ends,
    )


def rank(tier: Tier) -> int:
    return TIERS.index(tier)


@given(records(), tiers)
def test_too_short_a_record_changes_nothing(record: TrackRecord, before: Tier) -> None:
    short = replace(record, replies=min(record.replies, LEAST_REPLIES - 1))
    assert measured(short, before) == before
    bare = replace(record, calls=min(record.calls, LEAST_CALLS - 1), sent_back=0, ends=min(record.ends, LEAST_ENDS - 1))
    assert measured(bare, before) == before


@given(records(), tiers)
def test_the_same_record_measured_again_gives_the_same_tier(record: TrackRecord, before: Tier) -> None:
    once = measured(record, before)
    assert measured(record, once) == once


@given(records(), tiers, st.sampled_from(["malformed", "unknown", "sent_back", "repeated"]), st.integers(1, 50))
def test_more_faults_never_bring_more_trust(record: TrackRecord, before: Tier, fault: str, more: int) -> None:
    worse = replace(record, **{fault: getattr(record, fault) + more})
    enough = record.sent_back + record.ends >= LEAST_ENDS  # else the faults themselves make the first figures enough
    if enough or fault in ("malformed", "unknown"):
        assert rank(measured(worse, before)) <= rank(measured(record, before))


@given(records(), tiers)
def test_a_model_is_never_trusted_that_was_not_proven_by_verified_ends(record: TrackRecord, before: Tier) -> None:
    if before != "trusted" and record.verified < VERIFIED:
        assert measured(record, before) != "trusted"


@given(st.lists(st.integers(4, 9), min_size=2, max_size=30))
def test_a_record_that_stays_between_the_bounds_leaves_every_tier_as_it_is(faults: list[int]) -> None:
    tier: Tier = measured(TrackRecord(replies=100, calls=100, malformed=12, ends=20))
    assert tier == "strict"
    for malformed in faults:
        tier = measured(TrackRecord(replies=100, calls=100, malformed=malformed, ends=20), tier)
        assert tier == "strict"
    tier = measured(TrackRecord(replies=100, calls=100, malformed=3, ends=20), tier)
    for malformed in faults:
        tier = measured(TrackRecord(replies=100, calls=100, malformed=malformed, ends=20), tier)
        assert tier == "normal"


def test_bounds_of_the_tiers() -> None:
    good = TrackRecord(replies=120, calls=100, verified=12, ends=20)
    assert measured(TrackRecord()) == "normal"
    assert measured(good) == "trusted"
    assert measured(replace(good, verified=9)) == "normal"
    assert measured(replace(good, malformed=2)) == "normal"
    assert measured(replace(good, malformed=2), "trusted") == "trusted"
    assert measured(replace(good, sent_back=3), "trusted") == "normal"
    assert measured(replace(good, unknown=10)) == "strict"
    assert measured(replace(good, sent_back=10)) == "strict"
    assert measured(replace(good, repeated=6)) == "strict"
    assert measured(good, "strict") == "trusted"
