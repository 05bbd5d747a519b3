"""The list of traps that sandboxes fall into, and for each the tests that keep it shut: none of them may go missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent
TRAPS = {
    "1 bubblewrap's own process keeps its starter's environment": [
        "machines/test_traps.py::test_bubblewrap_itself_is_started_with_an_empty_environment",
        "attacks/escape_reach.py::read_environments",
    ],
    "2 kernel settings are writable for a root daemon's machine": [
        "machines/test_traps.py::test_kernel_settings_are_mounted_read_only_and_the_user_is_no_root",
        "machines/test_idmap.py::test_the_process_outside_is_no_root",
        "attacks/escape_kernel.py::write_the_core_pattern_back",
    ],
    "3 a renamed folder takes a read-only one along, and what is absent can be planted": [
        "machines/test_traps.py::test_a_folder_above_an_obeyed_path_can_be_renamed_in_the_machine_alone",
        "machines/test_protected.py::test_the_persons_own_stay_as_they_are_whatever_is_done_to_them",
        "machines/test_protected.py::test_what_is_planted_waits_is_told_and_is_seen_by_later_commands",
        "attacks/escape_aside.py::rename_a_folder_above_a_protected_file",
    ],
    "4 limits that do not count for root, and are per file": [
        "attacks/test_runner.py::test_processes_are_limited_for_the_whole_machine",
        "attacks/test_runner.py::test_what_fills_the_disk_is_stopped_before_it_is_full",
        "machines/test_trial.py::test_limits_hold_for_what_waits_too",
        "machines/test_trial.py::test_what_fills_the_disk_is_stopped_on_trial_too",
    ],
    "5 an overlay over files of somebody else": [
        "machines/test_trial.py::test_the_folder_and_the_machine_are_of_one_owner_and_foreign_files_say_so",
        "machines/test_idmap.py::test_files_of_another_owner_stay_theirs",
    ],
    "6 a filter against local sockets also shuts the way to the proxy": [
        "machines/test_traps.py::test_sockets_between_programs_inside_still_work",
        "attacks/escape_reach.py::reach_an_abstract_socket",
    ],
    "7 what dies with its starter, and what must not": [
        "attacks/test_runner.py::test_a_machine_dies_with_a_daemon_that_is_killed",
        "machines/test_shell.py::test_a_background_process_outlives_its_command_and_dies_with_the_machine",
    ],
    "8 an address that is checked and another that is connected to": [
        "attacks/test_ssrf.py::test_a_name_that_changes_its_mind_is_asked_once_and_the_answer_that_was_checked_is_used",
        "attacks/test_ssrf.py::test_a_redirect_that_leads_inside_is_refused",
        "egress/test_proxy.py::test_a_name_is_asked_once_and_what_was_checked_is_connected_to",
    ],
}


@pytest.mark.parametrize("trap", TRAPS)
def test_each_trap_has_its_tests(trap: str) -> None:
    for place in TRAPS[trap]:
        file, _, name = place.partition("::")
        text = (TESTS / file).read_text("utf-8")
        assert re.search(rf'(def {name}\(|"{name}":)', text), place
