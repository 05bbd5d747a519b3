"""Every command that a door may send finds what carries it out."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from stead.domain import commands as cmd
from tests.runtime.room import Room, WireModels


async def test_each_kind_of_command_is_carried_out_by_one_row_of_the_table(tmp_path: Path) -> None:
    room = Room(tmp_path, WireModels(()))
    try:
        assert set(room.runtime.handlers) == set(get_args(cmd.Command))
    finally:
        await room.leave()
