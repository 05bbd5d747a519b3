"""Attacks on the figures for Prometheus: names of models, which a provider may choose, as a bomb and as a forgery."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import msgspec
from prometheus_client.parser import text_string_to_metric_families

from stead.config import Home
from stead.domain import events as ev
from stead.domain.schedules import Standing
from stead.storage.journal import open_journal
from stead.storage.views import Views
from stead.storage.work_figures import WorkFigures
from stead.web.backend import Backend
from stead.web.metrics import MOST_MODELS, MetricsDoor
from tests.build import START_MS
from tests.promises import promise
from tests.storage.drafts import KEYS, draft, replied, requested, session


@promise("OPS-2.metrics")
async def test_a_thousand_hostile_names_of_models_make_few_series_and_no_line_of_their_own(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.make()
    journal = open_journal(home.journal, KEYS)
    forged = 'a"} 1\nstead_approvals_waiting 99\n# TYPE x counter\nx{y="'
    names = [forged, "\\", "b" * 5000, *(f"model-{at}" for at in range(1000))]
    for at, name in enumerate(names):
        reply = msgspec.structs.replace(replied(1), model=ev.ModelRef("acme", name))
        await journal.append([draft(session(at), 1, requested(1)), draft(session(at), 2, reply)])
    views = Views(home.views / "v.db", KEYS, journal, now_ms=lambda: START_MS)
    facts = SimpleNamespace(schedules=dict[str, Standing]())
    behind = SimpleNamespace(
        views=views,
        figures=WorkFigures(views.reading),
        journal=journal,
        home=lambda: facts,
        identity=SimpleNamespace(build="1"),
    )
    door = MetricsDoor(cast("Backend", behind), home.journal, "token")
    began = time.monotonic()
    text = (await door._text()).decode()
    assert time.monotonic() - began < 2
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    models = {sample.labels["model"] for sample in samples if "model" in sample.labels}
    assert "other" in models and len(models) == MOST_MODELS + 1
    assert all(len(model) <= 120 for model in models) and len(text) < 100_000
    assert [sample.value for sample in samples if sample.name == "stead_approvals_waiting"] == [0.0]
    total = sum(sample.value for sample in samples if sample.name == "stead_model_requests_total")
    assert total == len(names), "what is put together is still counted"
    views.close()
    journal.close()
