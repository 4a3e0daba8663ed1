-- Records that the queue has taken claimed runs.
--
-- the_space  whose runs they are
-- the_crons  their crons
-- the_runs  their ids
-- the_sweep  look again after, ms
-- Returns  how many were not confirmed before
--
-- A worker may have begun, or finished, a run before this arrives: beginning it removes it from the pending runs.
create or replace function confirm_runs(the_space text, the_crons text[], the_runs text[], the_sweep bigint) returns json
language plpgsql
set search_path from current set enable_seqscan = off
as $$
declare
  at_now bigint;
  confirmed bigint;
begin
  perform from cron where space = the_space and name = any(the_crons) order by name for update;
  at_now := now_ms();
  update run set
    state = 'enqueued', enqueued_at = at_now, pending = false,
    watch_at = greatest(at_now, coalesce(not_before, at_now)) + the_sweep
  where space = the_space and id = any(the_runs) and pending;
  get diagnostics confirmed = row_count;
  return to_json(confirmed);
end $$;
