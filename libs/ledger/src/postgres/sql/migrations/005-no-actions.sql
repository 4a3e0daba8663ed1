-- The audit trail alone records who ordered what. A new schema has none of these functions yet: they come after the migrations.
drop function if exists
  note_action(text, text, bigint, text, text, text, text), list_actions(text, text, bigint), trim_actions(text, text),
  cancel_run(text, text, text, text, bigint, text), resume_cron(text, text, text, text, text);
drop table action;
