"""A call of the record is judged again without leave to run it."""

from __future__ import annotations

import pytest

from stead.domain import events as ev
from stead.domain.errors import PermitRefused
from stead.domain.folding import begin
from stead.domain.ids import CallKey, CommandId
from stead.domain.policies import Allow
from stead.domain.sessions import Call
from stead.guardian.reach import Reach
from stead.runtime.gate import Gate, Moment, Standing
from tests.attacks.injection_suite.guard import DeclaredTool, StillMachines
from tests.build import SESSION, START_MS, TOOLS, created
from tests.storage.drafts import KEYS


def test_no_permit_of_a_call_that_is_judged_again_can_be_spent() -> None:
    tools = [DeclaredTool(spec.name, spec.declaration, {}) for spec in TOOLS]
    gate = Gate(tools, StillMachines(), reach=Reach(), digest_key=KEYS.digests, random_bytes=bytes)
    session = begin(ev.Event(1, SESSION, 1, START_MS, "person", CommandId(""), created()))
    call = Call(CallKey("call_1_0"), "read", '{"path":"a"}', runnable=True)
    verdict = gate.judge_again(session, call, Moment(Standing(), START_MS))
    assert isinstance(verdict, Allow)
    with pytest.raises(PermitRefused, match="closed"):
        verdict.permit.spend("read", {"path": "a"})
    with pytest.raises(PermitRefused):
        verdict.permit.require_live(SESSION)
