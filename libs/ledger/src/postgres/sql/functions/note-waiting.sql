-- Records why a run waits, or that the reason is gone; the next attempt clears it.
--
-- the_space  whose run it is
-- the_cron  its cron
-- the_run  its id
-- the_reason  why it waits, or null
-- Returns  nothing
create or replace function note_waiting(the_space text, the_cron text, the_run text, the_reason text) returns json
language plpgsql
set search_path from current set enable_seqscan = off
as $$
begin
  perform from cron where space = the_space and name = the_cron for update;
  update run set waiting = the_reason
  where space = the_space and id = the_run and state in ('claimed', 'enqueued', 'orphaned');
  return null;
end $$;
