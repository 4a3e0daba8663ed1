-- Cancels a run that no worker executes; asks a running one to stop, within a grace period.
--
-- the_space  deployment and tenant
-- the_cron  its name
-- the_run  its id
-- who  name of the operator
-- grace_ms  how long a worker may go on
-- Returns  {verdict: cancelled} | {verdict: cancelling, until} | {verdict: terminal, state} | {verdict: missing}
--
-- A second order gets the answer of the first, and can only bring the end forward. The run lease ends with the grace:
-- whatever waits for the worker's end handles the rest.
create or replace function cancel_run(the_space text, the_cron text, the_run text, who text, grace_ms bigint)
returns jsonb
language plpgsql set search_path from current set enable_seqscan = off
as $$
declare
  this run;
  at bigint;
  until bigint;
begin
  perform lock_cron(the_space, the_cron);
  at := now_ms();
  select * into this from run where space = the_space and id = the_run;
  if not found then return '{"verdict": "missing"}'; end if;
  if this.state = 'cancelled' then return '{"verdict": "cancelled"}'; end if;
  if this.state in ('succeeded', 'failed', 'skipped') then
    return jsonb_build_object('verdict', 'terminal', 'state', this.state);
  end if;
  if this.state <> 'running' or this.lease_until <= at then
    update run set cancel_at = at, cancel_by = who, cancel_until = at
    where space = the_space and id = the_run and cancel_until is null;
    perform end_run(the_space, the_run, 'cancelled', at);
    return '{"verdict": "cancelled"}';
  end if;
  until := at + grace_ms;
  if this.cancel_until <= until then
    return jsonb_build_object('verdict', 'cancelling', 'until', this.cancel_until);
  end if;
  update run set cancel_at = coalesce(cancel_at, at), cancel_by = coalesce(cancel_by, who), cancel_until = until,
    lease_until = least(lease_until, until), open_until = least(lease_until, until),
    watch_at = least(lease_until, until)
  where space = the_space and id = the_run;
  return jsonb_build_object('verdict', 'cancelling', 'until', until);
end
$$;
