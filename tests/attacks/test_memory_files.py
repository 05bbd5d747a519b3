"""From inside a machine: the files of memory, which hold what other workspaces and the person alone may know."""

from __future__ import annotations

from pathlib import Path

import pytest

from stead.domain.errors import InvalidRequest
from tests.machines.bench import Bench, open_bench, require_sandbox

SIGN = "sign-0f3a"


@pytest.mark.parametrize("elsewhere", [False, True], ids=["in the home", "in a folder of its own"])
async def test_a_machine_finds_no_file_of_memory(elsewhere: bool, tmp_path: Path) -> None:
    require_sandbox()
    async with open_bench(tmp_path) as bench:
        if elsewhere:
            bench.machines._home = bench.home._replace(memory_folder=tmp_path / "memory")
            bench.home = bench.machines._home
        files = bench.home.memory_files
        secret = files / "private" / "notes-1" / "people" / f"{SIGN}.md"
        secret.parent.mkdir(parents=True)
        secret.write_text("- Ada is looking for a new flat.\n")
        (bench.project / "link").symlink_to(secret)
        (bench.project / "seen").write_text("a project's own\n")
        bench.bind()
        assert (await bench.run(f"cat {secret} link")).exit_code != 0
        found = await bench.run(f"find / -path /proc -prune -o -name '*{SIGN}*' -print 2>/dev/null; cat seen")
        assert found.output == "a project's own\n"
        await refuses(bench, files)


async def refuses(bench: Bench, files: Path) -> None:
    """No machine is made for a folder among the files, or around them."""
    for folder in (files, files / "private", files.parent):
        bench.project = folder
        with pytest.raises(InvalidRequest, match="cannot be a workspace"):
            bench.bind()
