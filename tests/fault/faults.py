"""The faults that can happen to an operation, each with the tests that make it happen, or why none here does.

`wanting` is what one would want beyond what these tests show, and does not have yet.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    what: str
    tests: tuple[str, ...] = ()  # FILE::TEST, below tests/
    why_not: str = ""
    wanting: str = ""


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
    10: Fault(
        "the plan fails",
        (
            "e2e/test_seed_contract.py::test_a_failed_plan_leaves_the_previous_status",
            "contract/test_engine.py::test_the_plan_of_a_failed_plan_is_not_kept",
        ),
    ),
    11: Fault(
        "the plan is empty",
        (
            "e2e/test_seed_contract.py::test_an_unchanged_module_writes_nothing",
            "e2e/test_changed_outside.py::test_a_raw_apply_is_said_and_its_outputs_are_taken_up",
        ),
    ),
    12: Fault(
        "begin can't be stored for good",
        (
            "e2e/test_s3_stack.py::test_a_begin_that_is_refused_after_the_plan_changes_nothing",
            "unit/test_ledger_begin.py::test_a_begin_refused_at_the_first_try_changes_nothing",
        ),
    ),
    13: Fault(
        "a clock that is wrong by 20 minutes",
        (
            "fault/test_crash_table.py::test_a_wrong_clock_changes_no_order",
            "cli/test_doctor.py::test_clocks_that_differ_are_said_before_s3_refuses",
        ),
        wanting="a run says nothing of a clock that S3 does not refuse yet; doctor does",
    ),
    14: Fault(
        "no place for the operation's files",
        (
            "fault/test_lost_runner.py::test_an_operation_without_a_place_for_its_files_is_not_begun",
            "unit/test_engine_operation_folder.py::test_a_disk_without_room_refuses_what_comes_before_a_mutation_and_forgives_the_result",
        ),
    ),
    15: Fault(
        "credentials end during the approval",
        (
            "e2e/test_identity.py::test_an_approval_takes_longer_than_a_token_lives",
            "e2e/test_identity.py::test_a_token_that_can_no_longer_be_had_stops_before_begin",
            "unit/test_expiry.py::test_a_run_whose_keys_end_before_it_does_says_so_before_anything",
        ),
    ),
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
    19: Fault(
        "the same, in a chain",
        (
            "e2e/test_seed_contract.py::test_what_did_not_run_has_no_record_at_all",
            "unit/test_ledger_runs.py::test_a_later_run_that_selects_the_module_takes_it_up",
        ),
    ),
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
            "unit/test_ledger_reading.py::test_a_gap_behind_a_head_is_not_filled_by_the_next_begin",
            "cli/test_ledger_verify.py::test_an_altered_entry_is_named",
            "cli/test_ledger_verify.py::test_nothing_is_begun_on_an_altered_entry_until_it_is_back",
            "cli/test_ledger_verify.py::test_a_log_that_nothing_can_be_made_of_is_named_and_the_others_are_read",
            "cli/test_damage.py::test_the_damage_of_one_module_is_seen_by_every_command_and_stops_none_of_the_others",
            "unit/test_ledger_mending.py::test_what_was_altered_or_deleted_comes_back_byte_for_byte",
            "e2e/test_ledger_repair.py::test_what_somebody_altered_and_deleted_in_the_bucket_is_put_back_from_its_versions",
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
TEARDOWN = {
    41: Fault(
        "a destroy stops half-way",
        ("e2e/test_destroy.py::test_a_teardown_that_stops_half_way_is_finished_by_its_second_call",),
    ),
    42: Fault(
        "a destroy ends well, and nobody looked",
        ("fault/test_teardown.py::test_a_runner_killed_before_it_could_look_is_followed_by_one_that_does",),
    ),
    43: Fault(
        "destroyed, says the engine, and it lives",
        (
            "e2e/test_destroy_evidence.py::test_a_provider_that_lies_is_found_out_by_whoever_looks",
            "e2e/test_destroy_evidence.py::test_a_lying_engine_that_does_nothing_and_exits_well_destroys_nothing",
        ),
    ),
    44: Fault(
        "who is to look can't", ("e2e/test_destroy_evidence.py::test_forbidden_and_unreachable_are_never_absent",)
    ),
    45: Fault(
        "an owner's destroy fails",
        ("e2e/test_destroy_owners.py::test_the_failure_of_its_owner_leaves_it_as_it_was",),
    ),
    46: Fault(
        "an owned module goes by itself",
        (
            "e2e/test_destroy_owners.py::test_named_it_is_destroyed_itself_with_evidence_of_its_own",
            "e2e/test_destroy_owners.py::test_an_owned_module_is_not_destroyed_itself_and_cites_its_owner_s_end",
        ),
    ),
    47: Fault(
        "a crash between an owner's end and its modules'",
        (
            "fault/test_teardown.py::"
            "test_a_runner_killed_between_an_owner_and_its_modules_is_followed_by_one_that_records_them",
        ),
    ),
    48: Fault(
        "a module begins while its owner goes",
        ("property/test_owner_races.py::test_no_interleaving_lets_an_owner_go_without_knowing_of_its_module",),
    ),
    49: Fault(
        "an owner was deleted by hand",
        (
            "fault/test_teardown.py::"
            "test_an_owner_that_was_deleted_by_hand_takes_along_what_can_not_be_reached_any_more",
        ),
    ),
    50: Fault(
        "one object stays",
        (
            "e2e/test_destroy_evidence.py::test_an_object_that_is_no_longer_managed_makes_the_module_retained",
            "e2e/test_destroy.py::test_what_is_to_be_retained_is_kept_and_shown_apart",
        ),
    ),
}
OUTSIDE = {
    51: Fault(
        "the state is absent, older or another",
        (
            "e2e/test_state_guard.py::test_a_state_that_is_not_the_recorded_one_stops_everything",
            "e2e/test_destroy.py::test_a_state_that_is_gone_stops_before_anything_and_is_never_absence",
        ),
    ),
    52: Fault(
        "raw commands between two operations",
        (
            "e2e/test_changed_outside.py::test_a_raw_apply_is_said_and_its_outputs_are_taken_up",
            "e2e/test_changed_outside.py::test_raw_commands_on_the_state_leave_the_module_usable",
        ),
    ),
    53: Fault(
        "the state is to lie elsewhere",
        ("e2e/test_state_guard.py::test_another_place_is_refused_unless_somebody_vouches_for_it",),
    ),
    54: Fault(
        "somebody acts between plan and begin",
        (
            "e2e/test_approval.py::test_what_somebody_else_did_during_the_question_is_seen_before_anything_is_applied",
            "e2e/test_saved_runs.py::test_what_has_moved_is_planned_again_and_may_do_no_more",
        ),
    ),
    55: Fault(
        "what a provisioner started outlives its engine",
        ("contract/test_engine.py::test_what_a_provisioner_has_started_is_not_taken_for_the_engine",),
    ),
    56: Fault(
        "seen from another container",
        (
            "unit/test_engine_operation_folder.py::test_both_locks_free_is_death_and_nothing_else_is",
            "unit/test_engine_operation_folder.py::test_another_file_than_the_recorded_one_is_no_evidence",
        ),
        wanting="no test starts a container: no process id is read anywhere, only locks of files count",
    ),
    57: Fault(
        "SIGKILL while a slot of the folder store is filled",
        ("fault/test_folder_store_kill.py::test_a_slot_is_whole_or_not_there",),
    ),
}
FAULTS = {**BEFORE, **DURING, **AFTER, **TEARDOWN, **OUTSIDE}
