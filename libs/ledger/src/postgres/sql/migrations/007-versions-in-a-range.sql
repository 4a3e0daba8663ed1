-- Tables say which builds still work with them, and each build has functions of its own.
--
-- Phase  contract
-- Minimum  7
-- Locks  ledger_version: ACCESS EXCLUSIVE, a table of a few rows
--
-- Builds up to version 6 work with tables of exactly their own version. Their functions, whose names say nothing of a build,
-- go with them.
alter table ledger_version
  -- The lowest version of a build that works with the tables as they are since this migration.
  add column minimum integer,
  alter column functions drop not null;
update ledger_version set minimum = version;
alter table ledger_version alter column minimum set not null;
do $$
declare
  old regprocedure;
begin
  for old in
    select oid from pg_proc where pronamespace = (select oid from pg_namespace where nspname = current_schema()) and proname in (
        'accept_claim', 'adopt_catalog', 'advance_catalog', 'advance_items', 'append_record', 'await_lease',
        'await_turn', 'begin_attempt', 'begin_attempts', 'begin_effect', 'begin_generation', 'begin_items',
        'begin_plain_attempts', 'cancel_run', 'change_cron', 'check_attempt', 'check_definition',
        'claim_occurrences', 'confirm_runs', 'copy_effects', 'count_keys', 'count_runs', 'declare_crons',
        'delete_runs', 'describe_begun', 'describe_pause', 'describe_resolved', 'describe_run', 'drop_tombstones',
        'end_run', 'find_account_end', 'finish_attempt', 'finish_attempts', 'finish_effect', 'finish_plain_attempts',
        'forget_runs', 'has_surplus', 'heartbeat_attempt', 'heartbeat_attempts', 'is_used_id', 'judge_declaration',
        'judge_declarations', 'key_catalog', 'list_alarmed', 'list_effects', 'list_items', 'list_notifications',
        'list_overdue', 'list_pending', 'list_records', 'list_runs', 'list_runs_in', 'list_skips', 'list_tenants',
        'list_undefined', 'list_unstarted', 'list_waiting', 'lock_catalog', 'lock_cron', 'lock_crons', 'move_looks',
        'note_notification', 'note_waiting', 'now_ms', 'outgrow_generation', 'overtake_attempts', 'pause_cron',
        'prepare_transaction', 'read_account', 'read_alarms', 'read_catalog', 'read_crons', 'read_run',
        'read_version', 'recall_claim', 'recall_transaction', 'recall_trigger', 'record_effect', 'record_item',
        'record_pause', 'redeliver_run', 'refuse_attempt', 'refuse_claim', 'refuse_trigger', 'remember_id',
        'replace_runs', 'resolve_run', 'resume_cron', 'settle_notifications', 'settle_transaction', 'share_catalog',
        'supersede_runs', 'swap_alarms', 'take_records', 'trigger_run', 'weigh_overlap'
    )
  loop
    execute format('drop function %s', old);
  end loop;
end $$;
