"""The boot settings: what ``config.toml`` may say, and what becomes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from stead.config import Home, Settings, load_settings
from stead.domain.errors import InvalidRequest


def settings(folder: Path, text: str) -> Settings:
    home = Home(folder)
    home.settings.write_text(text)
    return load_settings(home)


def test_a_machines_limits_and_toolchains_are_settings(tmp_path: Path) -> None:
    found = settings(
        tmp_path,
        'toolchain_folders = ["/opt/sdk", "/srv/zig"]\nmachine_memory_mb = 16384\nmachine_processes = 64\n'
        "machine_open_files = 65536\nmachine_file_mb = 16\nmachine_free_disk_mb = 64\n",
    )
    assert found.toolchain_folders == ("/opt/sdk", "/srv/zig") and found.unknown == ()
    assert (found.machine_memory_mb, found.machine_processes, found.machine_open_files) == (16384, 64, 65536)
    assert (found.machine_file_mb, found.machine_free_disk_mb) == (16, 64)


@pytest.mark.parametrize(
    ("text", "way_out"),
    [
        ('toolchains = "some"', "choose one of"),
        ('toolchain_folders = "/opt/sdk"', "give a list of absolute paths"),
        ('toolchain_folders = ["/opt/sdk", "sdk"]', "give a list of absolute paths"),
        ('toolchain_folders = ["/opt/sdk", 3]', "give a list of absolute paths"),
        ("machine_memory_mb = 255", "give 256 to"),
        ("machine_processes = 32769", "give 64 to 32768"),
        ('machine_open_files = "many"', "give 256 to"),
        ("machine_file_mb = true", "give 16 to"),
        ("machine_free_disk_mb = 0", "give 64 to"),
        ('time_zone = "Vienna"', 'give an IANA name such as "Europe/Vienna"'),
        ('time_zone = "Europe"', "give an IANA name"),
        ('time_zone = "europe/vienna"', "give an IANA name"),
        ('time_zone = "/etc/localtime"', "give an IANA name"),
        ('time_zone = "Europe/../../localtime"', "give an IANA name"),
        ("time_zone = 2", "give an IANA name"),
    ],
)
def test_a_bad_value_is_refused_with_the_way_out(tmp_path: Path, text: str, way_out: str) -> None:
    with pytest.raises(InvalidRequest, match=f"{text.split(' ')[0]} = .*: {way_out}"):
        settings(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "toolchains"),
    [("", ()), ('toolchain_folders = ["/opt/sdk"]', ("/opt/sdk",)), ('toolchains = "off"', None)],
)
def test_the_home_knows_which_toolchains_are_shown(tmp_path: Path, text: str, toolchains: object) -> None:
    home = Home(tmp_path).under(settings(tmp_path, text))
    assert home.toolchains == toolchains and home.memory_files == tmp_path / "memory-files"
