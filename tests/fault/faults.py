"""The faults that can happen to an operation, each with the tests that make it happen, or why none here does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    what: str
    tests: tuple[str, ...] = ()  # FILE::TEST, below tests/
    why_not: str = ""


CRASH = "fault/test_crash_table.py::test_a_crash_in_a_first_apply"
LATER = "fault/test_crash_table.py::test_a_crash_in_a_later_apply"

BEFORE = {
    1: Fault(
        "the ledger's bucket can't be reached at begin",
        (
            "e2e/test_s3_stack.py::test_a_bucket_that_is_gone_keeps_the_engine_from_starting",
            "e2e/test_seed_contract.py::test_without_a_ledger_that_can_be_written_the_engine_changes_nothing",
        ),
    ),
    2: Fault(
        "403 on the log",
        (
            "e2e/test_s3_stack.py::test_a_begin_that_is_refused_after_the_plan_changes_nothing",
            "unit/test_s3_errors.py::test_a_missing_permission_is_named_for_each_action",
        ),
    ),
    3: Fault(
        "begin stored, its answer lost",
        (
            "fault/test_ledger_faults.py::test_a_begin_that_needs_more_than_one_try_is_one_begin",
            "unit/test_ledger_begin.py::test_a_begin_whose_first_answer_is_not_to_be_had_is_read_back_and_stands_once",
        ),
    ),
    4: Fault(
        "begin arrives after its slot was poisoned",
        (
            "unit/test_ledger_begin.py::test_a_begin_that_was_cancelled_and_arrives_later_finds_its_slot_taken",
            "unit/test_ledger_begin.py::test_a_doubtful_begin_is_cancelled_in_its_own_slot",
        ),
    ),
    5: Fault(
        "409 three times, then stored",
        ("fault/test_ledger_faults.py::test_a_begin_that_needs_more_than_one_try_is_one_begin",),
    ),
    6: Fault(
        "503 for 20 s, then stored",
        (
            "unit/test_ledger_begin.py::test_twenty_seconds_without_answers_are_waited_for",
            "fault/test_ledger_faults.py::test_a_begin_that_needs_more_than_one_try_is_one_begin",
        ),
    ),
    7: Fault(
        "a store that ignores If-None-Match",
        (
            "contract/test_stores.py::test_a_server_that_ignores_conditional_headers_is_refused",
            "unit/test_store_probe.py::test_a_store_that_is_not_fit_never_holds_a_ledger",
        ),
    ),
    8: Fault(
        "two runners begin at once",
        (
            "e2e/test_s3_stack.py::test_of_two_runs_at_once_one_applies_and_the_other_is_busy_or_finds_nothing_to_do",
            "unit/test_ledger_begin.py::test_a_begin_that_lost_the_race_by_a_hair_is_not_taken_for_stored",
        ),
    ),
    9: Fault("SIGKILL during plan or approval", (CRASH, LATER)),
    10: Fault("the plan fails", ("e2e/test_seed_contract.py::test_a_failed_plan_leaves_the_previous_status",)),
    11: Fault("the plan is empty", ("e2e/test_seed_contract.py::test_an_unchanged_module_writes_nothing",)),
    12: Fault(
        "begin can't be stored for good",
        (
            "e2e/test_s3_stack.py::test_a_begin_that_is_refused_after_the_plan_changes_nothing",
            "unit/test_ledger_begin.py::test_a_begin_refused_at_the_first_try_changes_nothing",
        ),
    ),
    13: Fault(
        "a clock that is wrong by 20 minutes", ("fault/test_crash_table.py::test_a_wrong_clock_changes_no_order",)
    ),
    14: Fault(
        "no place for the operation's files",
        (
            "fault/test_lost_runner.py::test_an_operation_without_a_place_for_its_files_is_not_begun",
            "unit/test_engine_operation_folder.py::test_a_disk_without_room_refuses_what_comes_before_a_mutation_and_forgives_the_result",
        ),
    ),
    15: Fault("credentials end during the approval", why_not="`credentials.command` is not there yet"),
    16: Fault(
        "an errored.tfstate lies in the folder",
        ("e2e/test_engine_states.py::test_an_errored_state_blocks_every_further_plan",),
    ),
    17: Fault(
        "a secret in an input",
        (
            "e2e/test_field_stacks.py::test_a_secret_is_nowhere_but_in_the_state",
            "fault/test_engine_faults.py::test_secrets_of_a_dead_operation_are_in_no_record_and_no_log",
        ),
    ),
}
DURING = {
    18: Fault(
        "a create fails",
        (
            "e2e/test_seed_contract.py::"
            "test_a_failure_reads_error_keeps_outputs_names_the_command_and_leaves_the_rest_pending",
        ),
    ),
    19: Fault("the same, in a chain", ("e2e/test_seed_contract.py::test_what_did_not_run_has_no_record_at_all",)),
    20: Fault(
        "one SIGINT",
        ("fault/test_engine_faults.py::test_one_interrupt_reaches_the_engine_once_and_ends_it_gracefully",),
    ),
    21: Fault(
        "Ctrl-C to the whole group",
        (
            "fault/test_engine_faults.py::test_one_interrupt_reaches_the_engine_once_and_ends_it_gracefully",
            "e2e/test_engine_adapter.py::test_a_signal_to_the_group_of_hybridwrap_does_not_reach_the_engine",
        ),
    ),
    22: Fault("SIGHUP", ("fault/test_engine_faults.py::test_a_closed_terminal_ends_nothing",)),
    23: Fault(
        "SIGKILL of hybridwrap while the engine is at work",
        (
            CRASH,
            "fault/test_lost_runner.py::test_the_engine_runs_on_and_the_next_apply_waits_for_it_and_records_its_end",
        ),
    ),
    24: Fault(
        "SIGKILL of the engine",
        ("e2e/test_reconcile.py::test_three_of_five_were_made_and_each_is_recovered_without_a_second_one",),
    ),
    25: Fault(
        "SIGKILL of both, the disk lost",
        (
            "fault/test_takeover.py::test_a_word_ends_it_as_unknown_with_what_was_sent_off_the_host",
            "fault/test_heartbeat.py::test_a_made_object_is_in_the_ledger_while_the_engine_waits_for_the_next_one",
        ),
    ),
    26: Fault(
        "the host restarts",
        ("fault/test_crash_table.py::test_a_host_that_restarted_meanwhile_may_have_lost_the_last_events",),
    ),
    27: Fault(
        "the state can't be saved",
        (
            "e2e/test_rescue.py::"
            "test_a_state_that_could_not_be_saved_once_is_put_back_at_once_and_nothing_is_left_lying",
        ),
    ),
    28: Fault(
        "nor the copy of it",
        ("e2e/test_rescue.py::test_a_state_that_the_engine_could_only_print_is_caught_and_not_echoed",),
    ),
    29: Fault(
        "a raw apply in between",
        ("e2e/test_rescue.py::test_a_state_that_was_forked_is_never_forced_and_both_are_kept",),
    ),
    30: Fault(
        "somebody else's state lock",
        ("fault/test_engine_faults.py::test_a_lock_of_somebody_else_is_respected_and_shown",),
    ),
    31: Fault(
        "the engine can't release its lock",
        ("fault/test_engine_faults.py::test_a_lock_that_the_engine_could_not_release_is_released_by_a_later_command",),
    ),
    32: Fault(
        "it looks dead and is not",
        (
            "fault/test_takeover.py::test_without_a_word_the_module_stays_held_and_unlock_shows_by_whom",
            "fault/test_ledger_faults.py::"
            "test_a_result_that_the_ledger_could_not_be_told_is_safe_and_sent_by_the_next_command",
        ),
    ),
    33: Fault(
        "a state arrives late",
        ("fault/test_engine_faults.py::test_a_state_that_arrives_after_its_engine_is_dead_is_waited_for",),
    ),
    34: Fault(
        "a provider calls an object absent that is there",
        (
            "e2e/test_reconcile.py::test_a_provider_that_gave_no_object_back_is_asked_for_before_anything_is_made_again",
            "e2e/test_destroy_evidence.py::test_an_object_that_came_with_an_error_and_no_id_is_searched_for",
        ),
    ),
}
AFTER = {
    35: Fault(
        "the ledger can't be reached from the engine's end on",
        (
            "fault/test_ledger_faults.py::"
            "test_a_result_that_the_ledger_could_not_be_told_is_safe_and_sent_by_the_next_command",
        ),
    ),
    36: Fault(
        "end stored, its answer lost",
        (
            "fault/test_ledger_faults.py::test_an_end_whose_answer_was_lost_is_one_end",
            "unit/test_ledger_end.py::test_an_end_whose_first_answer_is_not_to_be_had_is_read_back_and_stands_once",
        ),
    ),
    37: Fault("a crash between end and head", (CRASH, LATER)),
    38: Fault(
        "a head lost or altered",
        (
            "unit/test_ledger_reading.py::test_a_damaged_head_is_rebuilt_from_the_log",
            "unit/test_ledger_reading.py::test_a_lost_head_of_an_expected_module_is_made_good_by_its_log",
        ),
    ),
    39: Fault(
        "an entry altered, missing or out of order",
        (
            "unit/test_ledger_reading.py::test_an_altered_entry_is_damage_that_names_its_seq",
            "unit/test_ledger_reading.py::test_swapped_entries_are_damage",
            "cli/test_ledger_verify.py::test_an_altered_entry_is_named",
        ),
    ),
    40: Fault(
        "sync twice, or from a copy",
        (
            "fault/test_ledger_faults.py::test_a_result_is_sent_twice_and_from_a_copy_and_recorded_once",
            "fault/test_ledger_faults.py::test_a_copy_of_a_dead_operation_is_no_evidence",
        ),
    ),
}
FAULTS = {**BEFORE, **DURING, **AFTER}
