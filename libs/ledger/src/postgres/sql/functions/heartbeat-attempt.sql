-- Extends the run lease of the current attempt. Expects the row of the cron to be locked.
--
-- the_space  deployment and tenant
-- request  {cron, runId, fence, nonce, ttlMs}
-- Returns  extended | cancelled | stale
--
-- An expired lease isn't revived: a successor may have been let in on the strength of its end. The lease of a run that was
-- cancelled ends with its grace at the latest, so that nothing waits for the worker longer than that.
create or replace function heartbeat_attempt(the_space text, request jsonb) returns text
language plpgsql set search_path from current
as $$
declare
  this run;
  at bigint := now_ms();
  until bigint;
begin
  select * into this from run where space = the_space and id = request ->> 'runId';
  if not check_attempt(this, request) or this.lease_until <= at then
    perform refuse_attempt(the_space, request ->> 'cron');
    return 'stale';
  end if;
  until := least(at + (request ->> 'ttlMs')::bigint, this.cancel_until);
  update run set lease_until = until, lease_ms = (request ->> 'ttlMs')::bigint, open_until = until, watch_at = until
  where space = the_space and id = this.id;
  return case when this.cancel_until is null then 'extended' else 'cancelled' end;
end
$$;
