"""Cases that people have reported of half-applied stacks, each with the tests of its kind; the numbers have gaps."""

from __future__ import annotations

from tests.fault.faults import Fault

STATES = "unit/test_state_file.py::test_"
RESUME = "e2e/test_resume.py::test_"
DESTROY = "e2e/test_destroy.py::test_"
MISSING = "e2e/test_destroy_missing.py::test_"
ADAPTER = "e2e/test_engine_adapter.py::test_"
ENVIRONMENT = "unit/test_engine_environment.py::test_"
STACKS = "e2e/test_field_stacks.py::test_"
MANIFEST = "unit/test_manifest_checks.py::test_"
CONTRACT = "contract/test_engine.py::test_"
S3 = "e2e/test_s3_stack.py::test_"
REFUSED = "unit/test_s3_errors.py::test_"

APPLY = {
    1: Fault(
        "a first apply fails half-way",
        (f"{STACKS}a_first_apply_that_fails_half_way_leaves_some_outputs_known_and_the_others_missing",),
    ),
    4: Fault(
        "a null of no type in a state",
        ("unit/test_partial.py::test_a_null_of_no_type_is_missing_also_after_a_success",),
    ),
    5: Fault(
        "killed before anything was saved",
        (
            "fault/test_lost_runner.py::test_engine_and_hybridwrap_are_killed",
            "e2e/test_reconcile.py::test_three_of_five_were_made_and_each_is_recovered_without_a_second_one",
        ),
    ),
    6: Fault(
        "killed with a local state",
        (
            "unit/test_partial.py::test_a_state_that_was_not_proven_saved_leaves_all_stale",
            "e2e/test_state_lock.py::test_a_note_beside_a_local_state_keeps_nobody_out_once_its_process_is_gone",
        ),
    ),
    10: Fault(
        "what is done is not done again",
        (
            f"{RESUME}it_goes_on_at_the_failed_module_and_does_not_redo_the_finished_ones",
            f"{RESUME}a_finished_module_whose_files_have_changed_is_not_skipped_in_silence",
        ),
    ),
    13: Fault("what is to be made is there already", ("e2e/test_already_there.py::test_it_says_so_and_what_to_type",)),
    17: Fault(
        "a tainted object is alive",
        (
            f"{STATES}a_tainted_object_is_there_and_its_output_is_not",
            "e2e/test_half_made.py::test_it_is_said_what_becomes_of_it_and_how_it_is_kept",
        ),
    ),
    19: Fault(
        "a lock of somebody else", ("fault/test_engine_faults.py::test_a_lock_of_somebody_else_is_respected_and_shown",)
    ),
    20: Fault(
        "a second interrupt",
        ("fault/test_engine_faults.py::test_three_interrupts_in_ten_seconds_leave_the_outcome_unknown",),
    ),
    22: Fault(
        "one SIGTERM",
        (
            "fault/test_engine_faults.py::test_one_interrupt_reaches_the_engine_once_and_ends_it_gracefully",
            f"{CONTRACT}what_a_provisioner_has_started_is_not_taken_for_the_engine",
        ),
        wanting="no test runs hybridwrap as process 1 of a container",
    ),
    26: Fault(
        "two runs at once",
        (
            f"{S3}of_two_runs_at_once_one_applies_and_the_other_is_busy_or_finds_nothing_to_do",
            "fault/test_lost_runner.py::test_a_module_that_another_hybridwrap_is_at_work_on_is_waited_for_on_request",
        ),
    ),
    32: Fault(
        "an errored.tfstate that is behind",
        (
            "unit/test_rescue.py::test_a_state_goes_back_only_where_nothing_is_lost",
            "unit/test_rescue.py::test_what_only_one_of_the_two_has_is_named",
        ),
    ),
    47: Fault(
        "a plan that is out of date",
        ("e2e/test_approval.py::test_a_raw_command_during_the_question_makes_the_plan_stale_and_another_is_made",),
    ),
    48: Fault(
        "a plan applied twice",
        (
            "e2e/test_saved_runs.py::test_another_machine_applies_exactly_the_saved_plans_once",
            "unit/test_ledger_begin.py::test_a_begin_is_bound_to_the_tail_that_it_was_planned_on",
        ),
    ),
    63: Fault(
        "an output is not there that another reads",
        ("unit/test_why.py::test_an_error_about_a_missing_output_leads_to_the_module_that_owes_it",),
    ),
    64: Fault(
        "all that is needed is known",
        (f"{STACKS}a_first_apply_that_fails_half_way_leaves_some_outputs_known_and_the_others_missing",),
    ),
    65: Fault("an output that is null", (f"{STACKS}an_output_that_is_null_by_design_is_passed_on_as_null",)),
    69: Fault("a secret", (f"{STACKS}a_secret_is_nowhere_but_in_the_state",)),
    71: Fault(
        "a secret is left on disk",
        (
            f"{ADAPTER}secrets_of_a_killed_operation_are_removed_by_the_next_start_and_those_of_a_living_one_are_not",
            "fault/test_engine_faults.py::test_secrets_of_a_dead_operation_are_in_no_record_and_no_log",
        ),
    ),
    98: Fault(
        "checks fail",
        (
            "unit/test_outcome.py::test_a_failing_check_is_a_warning",
            f"{STATES}check_results_of_any_shape_are_no_crash",
        ),
        wanting="no option makes a failing check an error",
    ),
    117: Fault(
        "another version is required",
        (
            f"{CONTRACT}a_module_that_wants_another_version_is_refused_before_any_command",
            "e2e/test_wrong_version.py::test_nothing_is_applied_before_it_is_found",
        ),
    ),
}
TEARDOWN = {
    12: Fault(
        "destroy after a failed first apply",
        (f"{DESTROY}a_module_whose_first_apply_made_only_a_tainted_object_is_torn_down",),
    ),
    16: Fault(
        "resources without instances in a state",
        (f"{STATES}a_resource_without_instances_and_a_data_source_hold_nothing",),
    ),
    52: Fault("a stack that is there in part", (f"{DESTROY}a_stack_that_came_only_half_way_is_torn_down_whole",)),
    53: Fault(
        "what it needs is gone",
        (
            f"{MISSING}inputs_come_from_the_ledger_when_the_outputs_they_were_made_of_are_gone",
            f"{MISSING}a_secret_that_is_not_to_be_had_any_more_gets_a_visible_placeholder",
        ),
    ),
    54: Fault(
        "in reverse order",
        (
            f"{DESTROY}each_module_goes_after_its_dependants_also_in_a_diamond",
            f"{DESTROY}a_plan_to_destroy_shows_its_order_and_records_nothing",
        ),
    ),
    56: Fault(
        "not empty, then it is",
        (
            f"{DESTROY}a_failure_tells_what_kind_it_is",
            f"{DESTROY}a_teardown_that_stops_half_way_is_finished_by_its_second_call",
        ),
    ),
    57: Fault(
        "prevent_destroy in the middle",
        (
            f"{DESTROY}what_is_protected_is_told_before_anything_starts",
            f"{DESTROY}protection_that_only_the_engine_sees_keeps_the_module_untouched",
        ),
    ),
    58: Fault("a state that it reads is gone", (f"{MISSING}a_plan_that_can_not_be_made_is_offered_without_a_look",)),
    62: Fault(
        "it left the manifest",
        (
            f"{MISSING}a_module_that_left_the_manifest_is_an_orphan_with_its_objects",
            f"{MISSING}an_orphan_is_torn_down_by_its_name",
            f"{MISSING}what_leads_to_no_source_is_said_and_nothing_is_forgotten",
        ),
    ),
}
STORE = {
    33: Fault("clocks differ", (f"{REFUSED}a_refusal_names_its_cause_and_nothing_was_stored",)),
    34: Fault(
        "no such bucket",
        (
            f"{S3}a_bucket_that_is_gone_keeps_the_engine_from_starting",
            "unit/test_protected.py::test_a_bucket_is_kept_as_long_as_something_that_is_needed_lies_in_it",
        ),
    ),
    35: Fault("another region", (f"{REFUSED}a_refusal_names_its_cause_and_nothing_was_stored",)),
    36: Fault(
        "403",
        (
            f"{REFUSED}a_missing_permission_is_named_for_each_action",
            "contract/test_signed_reads.py::test_what_is_refused_is_explained_and_what_fails_is_tried_again",
            f"{S3}a_begin_that_is_refused_after_the_plan_changes_nothing",
        ),
    ),
    37: Fault(
        "slow down",
        (
            "unit/test_ledger_begin.py::test_twenty_seconds_without_answers_are_waited_for",
            f"{S3}a_result_that_cannot_be_recorded_is_kept_and_said",
            "e2e/test_rescue.py::"
            "test_a_state_that_could_not_be_saved_once_is_put_back_at_once_and_nothing_is_left_lying",
        ),
    ),
    41: Fault(
        "conditional writes are ignored",
        ("contract/test_stores.py::test_a_server_that_ignores_conditional_headers_is_refused",),
    ),
    44: Fault(
        "other backend settings",
        (
            "e2e/test_state_guard.py::test_another_place_is_refused_unless_somebody_vouches_for_it",
            "e2e/test_engine_states.py::"
            "test_a_state_from_before_is_not_forgotten_and_the_command_that_is_named_moves_it",
        ),
    ),
}
BYTES = {
    73: Fault(
        "text around the outputs", (f"{CONTRACT}a_module_is_applied_and_its_state_is_read_without_another_process",)
    ),
    75: Fault(
        "other lines among the events",
        ("unit/test_events.py::test_lines_between_the_events_and_a_torn_one_are_no_crash",),
    ),
    76: Fault("a version manager", (f"{ADAPTER}a_version_manager_that_talks_on_stdout_changes_no_result",)),
    77: Fault("TF_LOG", (f"{ADAPTER}results_do_not_depend_on_what_lies_in_the_environment",)),
    78: Fault("TF_CLI_ARGS", (f"{ENVIRONMENT}what_would_steer_the_engine_from_outside_is_removed_and_said_by_name",)),
    81: Fault("TF_DATA_DIR", (f"{ENVIRONMENT}what_would_steer_the_engine_from_outside_is_removed_and_said_by_name",)),
    82: Fault("bytes that are no text", (f"{ADAPTER}bytes_that_are_no_text_do_not_hide_the_failure_or_the_outputs",)),
    83: Fault("very much output", (f"{ADAPTER}very_much_output_on_both_streams_stalls_nothing",)),
    90: Fault(
        "a state of zero bytes",
        (
            "e2e/test_state_guard.py::test_a_state_of_zero_bytes_is_not_taken_for_no_state",
            f"{STATES}zero_bytes_are_told_from_no_state_and_from_an_empty_one",
        ),
    ),
    91: Fault("a byte order mark", (f"{STATES}the_message_says_which_file_and_why",)),
    92: Fault(
        "an encrypted state",
        (
            f"{STATES}an_encrypted_state_tells_lineage_and_serial_and_no_more",
            "e2e/test_engine_states.py::test_an_encrypted_state_is_read_by_the_engine_that_can",
        ),
    ),
    94: Fault(
        "a state of a later release",
        (
            f"{STATES}a_state_of_a_newer_release_is_read",
            "e2e/test_state_guard.py::test_a_state_of_a_newer_engine_is_said_before_an_older_one_writes_over_it",
            f"{STATES}what_the_engine_refuses_is_never_taken_for_an_empty_state",
        ),
    ),
    95: Fault(
        "states of old releases",
        (f"{STATES}format_3_has_the_outputs_of_the_root_module_only", f"{STATES}format_1_is_read"),
    ),
    97: Fault(
        "numbers that floats can't hold",
        ("cli/test_json.py::test_numbers_that_no_float_can_hold_come_out_as_they_went_in",),
    ),
    99: Fault(
        "odd keys",
        (f"{STATES}a_key_is_quoted_to_be_pasted_back", f"{STATES}addresses_are_those_that_the_engine_prints"),
    ),
    100: Fault("a very large state", (f"{STATES}a_large_state_costs_less_memory_than_its_own_size",)),
    101: Fault(
        "a state that is garbage",
        (f"{STATES}what_the_engine_refuses_is_never_taken_for_an_empty_state", f"{STATES}broken_states_are_refused"),
    ),
    103: Fault(
        "digits in YAML",
        ("unit/test_manifest_reading.py::test_a_scalar_that_readers_of_yaml_disagree_on_must_be_quoted",),
    ),
    105: Fault("nested inputs", (f"{CONTRACT}inputs_of_every_type_arrive_exactly",)),
    106: Fault(
        "inputs that are not declared",
        (f"{MANIFEST}mistakes_read_like_this", f"{MANIFEST}an_undeclared_name_in_a_var_file_is_a_warning_once"),
    ),
    107: Fault("null, and the word", ("e2e/test_inputs.py::test_values_arrive_as_they_are",)),
    114: Fault("folders with spaces", (f"{ADAPTER}folder_names_are_only_names",)),
    116: Fault(
        "mistakes in the graph",
        (
            f"{MANIFEST}a_mistake_in_the_graph_is_one_clear_message",
            f"{MANIFEST}names_that_differ_only_by_case_are_a_warning",
        ),
    ),
}
FIELD_CASES = {**APPLY, **TEARDOWN, **STORE, **BYTES}
