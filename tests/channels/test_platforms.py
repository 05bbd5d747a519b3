"""What the platforms say of themselves."""

from __future__ import annotations

import re
from pathlib import Path

from stead.channels.manifests import MANIFESTS
from stead.channels.platforms import platform

WORDS = Path(__file__).parents[2] / "frontend/src/i18n/en/platforms.ts"


def test_the_page_has_the_title_of_each_field_of_each_platform_to_be_translated() -> None:
    text = WORDS.read_text("utf-8").replace("\u2019", "'")
    said = dict(re.findall(r'^  (\w+):\s+"(.*)",$', text, re.MULTILINE))
    wanted = {f"{kind}_{field.name}": field.title for kind, one in MANIFESTS.items() for field in one.fields}
    assert {key: title for key, title in said.items() if "_" in key} == wanted
    assert {kind: title for kind, title in said.items() if "_" not in kind} == {
        kind: MANIFESTS[kind].title for kind in ("email", "webhook")
    }, "the others are names"


def test_each_platform_has_a_manifest_and_the_module_that_it_is_run_by() -> None:
    titles = {kind: platform(kind).__name__ for kind in MANIFESTS}
    assert len(set(titles.values())) == len(MANIFESTS) == 9


def test_hosts_and_lengths_that_a_platforms_file_knows_are_those_of_its_manifest() -> None:
    from stead.channels import discord, mail, slack, slack_text, teams

    assert discord._FILES_HOST in MANIFESTS["discord"].hosts and MANIFESTS["discord"].text_chars == discord._TEXT_CHARS
    assert slack._FILES_HOST in MANIFESTS["slack"].hosts and MANIFESTS["slack"].text_chars == slack_text.SECTION_CHARS
    assert (*teams._CONNECTOR, teams._SHARED) == MANIFESTS["teams"].hosts
    assert mail._ADDRESS in [field.pattern for field in MANIFESTS["email"].fields]
