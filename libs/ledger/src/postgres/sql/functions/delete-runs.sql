-- Deletes runs, and all that is recorded of their effects.
--
-- the_space  whose runs they are
-- the_cron  their cron, locked
-- the_rows  where they are
-- Returns  nothing
--
-- The latest forgotten instant is recorded, so that a forgotten run is not mistaken for a missed one. The id of a triggered run
-- has no instant to compare: the id itself is remembered while a duplicate of the trigger may still arrive.
create or replace function delete_runs(the_space text, the_cron text, the_rows tid[]) returns void
language plpgsql
set search_path from current
as $$
declare
  -- LATE_TRIGGER_MS of ledger-request.ts.
  late_ms constant bigint := 600000;
  gone text[];
  latest bigint;
begin
  with deleted as (delete from run where ctid = any(the_rows) returning id, scheduled_at)
  select array_agg(id), max(scheduled_at) into gone, latest from deleted;
  perform remember_id(the_space, the_cron, id, now_ms() + late_ms) from unnest(gone) as id
  where position('@manual-' in id) > 0;
  delete from effect where space = the_space and run_id = any(gone);
  delete from effect_begun where space = the_space and run_id = any(gone);
  delete from item where space = the_space and run_id = any(gone);
  update cron set forgotten = greatest(forgotten, latest) where space = the_space and name = the_cron;
end $$;
