-- Ends or cancels the oldest runs in the way of a new one.
--
-- the_space  whose cron it is
-- the_cron  its name, locked
-- the_id  the new run
-- the_surplus  how many have to go
-- the_grace  how long a running one may continue, ms
-- the_now  epoch ms
-- Returns  nothing
create or replace function replace_runs(
  the_space text, the_cron text, the_id text, the_surplus bigint, the_grace bigint, the_now bigint
) returns void
language plpgsql
set search_path from current
as $$
declare
  said constant text := 'replaced by ' || the_id;
  going constant text[] := array(
    select id from run where space = the_space and cron = the_cron and is_open and open_until > the_now
    order by scheduled_at, id limit the_surplus
  );
begin
  -- A waiting run ends at once: skipped if it never began, cancelled between two attempts.
  update run set
    state = case when attempt = 0 then 'skipped' else 'cancelled' end,
    skipped = case when attempt = 0 then 'superseded' end,
    cancel_at = case when attempt = 0 then cancel_at else the_now end,
    cancel_by = case when attempt = 0 then cancel_by else said end,
    cancel_until = case when attempt = 0 then cancel_until else the_now end,
    finished_at = the_now, open_until = null, watch_at = null, pending = false
  where space = the_space and id = any(going) and state <> 'running';
  -- A worker learns of it with its next heartbeat; its lease ends with its grace at the latest.
  update run set
    cancel_at = the_now, cancel_by = said, cancel_until = the_now + the_grace,
    lease_until = least(lease_until, the_now + the_grace),
    open_until = least(lease_until, the_now + the_grace),
    watch_at = least(lease_until, the_now + the_grace)
  where space = the_space and id = any(going) and state = 'running' and cancel_until is null;
end $$;
