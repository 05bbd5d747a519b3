"""Whatever is done to the record behind Stead's back is found, and what is done rightly is not taken for an attack."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.attacks import audit_attacks as attacks
from tests.attacks.audit_attacks import ATTACKS, WITH_EVERY_KEY, Attack, Kept, audited, found, keep
from tests.promises import promise

TIMES = 6


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return keep(tmp_path_factory.mktemp("kept"), random.Random(11))


@promise("SEC-10.verify")
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_an_attack_on_the_record_is_found(kept: Kept, tmp_path: Path, attack: Attack) -> None:
    for seed in range(TIMES):
        assert found(kept, attack, random.Random(seed), tmp_path / "victim"), f"seed {seed}"


@pytest.mark.parametrize("seed", range(8))
def test_a_record_with_erasures_that_nobody_touched_is_whole(tmp_path: Path, seed: int) -> None:
    untouched = keep(tmp_path, random.Random(seed))
    report = audited(untouched, elsewhere=True)
    assert report is not None
    assert (report.faults, report.doubts) == ((), ())
    assert report.events == report.covered == untouched.events
    assert report.erased > 0
    assert report.heads >= 4


@promise("SEC-10.signed")
@pytest.mark.parametrize("attack", WITH_EVERY_KEY, ids=lambda attack: attack.__name__)
def test_whoever_has_every_key_is_told_only_by_a_head_on_another_disk(
    kept: Kept, tmp_path: Path, attack: Attack
) -> None:
    for seed in range(4):
        victim = kept.copied(tmp_path / "victim")
        attack(victim, random.Random(seed))
        without, with_it = audited(victim), audited(victim, elsewhere=True)
        assert without is not None
        assert with_it is not None
        assert without.faults == ()
        assert with_it.faults


@promise("SEC-10.signed")
def test_rows_cut_off_at_the_end_show_by_an_outside_head_alone(kept: Kept, tmp_path: Path) -> None:
    victim = kept.copied(tmp_path / "victim")
    with attacks.tampering(victim) as connection:
        connection.execute("DELETE FROM events WHERE seq = ?", (kept.events,))
    report = audited(victim)
    assert report is not None
    assert any("cut off at the end" in fault for fault in report.faults)
    with attacks.tampering(victim) as connection:
        connection.execute("DELETE FROM heads")
    victim.home.heads.unlink()
    report = audited(victim)
    assert report is not None
    assert report.faults == ()
    assert any("no head" in doubt for doubt in report.doubts), "what cannot be known is said"
    report = audited(victim, elsewhere=True)
    assert report is not None
    assert any("cut off at the end" in fault for fault in report.faults)


def test_the_log_of_the_database_cut_off_is_found(tmp_path: Path) -> None:
    kept = keep(tmp_path / "kept", random.Random(5))
    with attacks.tampering(kept) as connection:  # while this is open, the write-ahead log stays beside the file
        for at in range(3):
            connection.execute("INSERT INTO heads VALUES (?, ?, zeroblob(0))", (10_000 + at, "{}"))
        log = kept.home.journal.with_name("journal.db-wal")
        assert log.stat().st_size > 0
        victim = kept.copied(tmp_path / "victim")
    report = audited(victim)
    assert report is not None
    assert any("event 10000 is no signed head" in fault for fault in report.faults)
