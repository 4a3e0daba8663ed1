-- Deletes runs of any crons, and all that is recorded of their effects.
--
-- the_space  whose runs they are
-- the_rows  where they are; the rows of their crons are locked
-- Returns  nothing
--
-- The id of a triggered run has no instant to compare with what was forgotten: the id itself is remembered while a duplicate of
-- the trigger may still arrive.
create or replace function delete_runs(the_space text, the_rows tid[]) returns void
language plpgsql
set search_path from current
as $$
declare
  -- LATE_TRIGGER_MS of ledger-request.ts.
  late_ms constant bigint := 600000;
  gone text[];
  names text[];
  instants bigint[];
begin
  with deleted as (
    delete from run where ctid = any(the_rows) returning id, cron, scheduled_at
  )
  select array_agg(id), array_agg(cron), array_agg(scheduled_at) into gone, names, instants from deleted;
  perform note_forgotten(the_space, names, instants);
  perform remember_ids(the_space, array_agg(name), array_agg(id), now_ms() + late_ms)
  from unnest(gone, names) as triggered (id, name) where position('@manual-' in id) > 0;
  delete from effect where space = the_space and run_id = any(gone);
  delete from effect_begun where space = the_space and run_id = any(gone);
  delete from item where space = the_space and run_id = any(gone);
end $$;
