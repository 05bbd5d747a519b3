"""A permit is good for one run of one call, and exists nowhere else."""

from __future__ import annotations

import copy
import pickle

import msgspec
import pytest

from stead.domain.errors import PermitRefused
from stead.domain.ids import CallDigest, CallKey, SessionId
from stead.domain.permits import Permit
from tests.build import SESSION

ARGUMENTS = {"command": "make", "timeout_s": 60}


def permit() -> Permit:
    return Permit(
        session=SESSION,
        call=CallKey("call_1_0"),
        tool="shell",
        arguments=ARGUMENTS,
        digest=CallDigest("d"),
        nonce=b"n" * 16,
    )


def test_it_is_spent_once() -> None:
    leave = permit()
    leave.spend("shell", ARGUMENTS)
    with pytest.raises(PermitRefused):
        leave.spend("shell", ARGUMENTS)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("write", ARGUMENTS), ("shell", {**ARGUMENTS, "command": "make install"}), ("shell", {"command": "make"})],
)
def test_it_is_for_nothing_else_than_what_was_judged(tool: str, arguments: dict[str, object]) -> None:
    with pytest.raises(PermitRefused):
        permit().spend(tool, arguments)


def test_a_machine_takes_it_only_while_it_is_being_used_and_in_its_session() -> None:
    leave = permit()
    with pytest.raises(PermitRefused):
        leave.require_live(SESSION)
    leave.spend("shell", ARGUMENTS)
    leave.require_live(SESSION)
    with pytest.raises(PermitRefused):
        leave.require_live(SessionId("s_another"))
    leave.close()
    with pytest.raises(PermitRefused):
        leave.require_live(SESSION)


def test_arguments_that_change_after_the_judgement_are_not_covered() -> None:
    arguments: dict[str, object] = dict(ARGUMENTS)
    leave = Permit(
        session=SESSION, call=CallKey("c"), tool="shell", arguments=arguments, digest=CallDigest("d"), nonce=b"n" * 16
    )
    arguments["command"] = "rm -r ."
    with pytest.raises(PermitRefused):
        leave.spend("shell", arguments)


def test_it_cannot_be_copied_or_sent() -> None:
    with pytest.raises(PermitRefused):
        pickle.dumps(permit())
    with pytest.raises(PermitRefused):
        copy.copy(permit())
    with pytest.raises(TypeError):
        msgspec.json.encode(permit())
