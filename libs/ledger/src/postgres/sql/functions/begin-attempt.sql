-- Starts an attempt of a run and issues its fence, or says why not. Expects the row of the cron to be locked.
--
-- the_space  deployment and tenant
-- request  {cron, runId, nonce, worker, ttlMs, maxAttempts, notify}
-- turn_ms  ask again after, while a run of the cron has to be waited for
-- Returns  {verdict: begun, fence, attempt, run} | {verdict: busy, waitMs} | {verdict: not-due, waitMs}
--            | {verdict: terminal, state, exhausted} | {verdict: uncertain} | {verdict: missing} | {verdict: fence-exhausted}
--
-- The fence increases over all runs of the cron, so that a sink keyed by anything can order the writes it gets.
create or replace function begin_attempt(the_space text, request jsonb, turn_ms bigint) returns jsonb
language plpgsql set search_path from current
as $$
declare
  this run;
  at bigint;
  wait_ms bigint;
  next_fence bigint;
begin
  select * into this from run where space = the_space and id = request ->> 'runId';
  if not found then return '{"verdict": "missing"}'; end if;
  if this.state = 'running' and this.nonce = request ->> 'nonce' then return describe_begun(this); end if;
  if this.state in ('succeeded', 'failed', 'cancelled', 'skipped') then
    return jsonb_build_object('verdict', 'terminal', 'state', this.state);
  end if;
  if this.state = 'uncertain' then return '{"verdict": "uncertain"}'; end if;

  at := now_ms();
  wait_ms := await_lease(this, at);
  if wait_ms > 0 then return jsonb_build_object('verdict', 'busy', 'waitMs', wait_ms); end if;
  -- Cancelled, and no worker executes it: it has stopped.
  if this.cancel_until is not null then
    perform end_run(the_space, this.id, 'cancelled', at);
    return '{"verdict": "terminal", "state": "cancelled"}';
  end if;
  if this.attempt = 0 and this.start_by < at then
    perform end_run(the_space, this.id, 'skipped', at);
    return '{"verdict": "terminal", "state": "skipped"}';
  end if;
  if this.not_before > at then
    return jsonb_build_object('verdict', 'not-due', 'waitMs', this.not_before - at);
  end if;
  if this.attempt >= (request ->> 'maxAttempts')::bigint + this.extra_attempts then
    perform end_run(the_space, this.id, 'failed', at, 'every attempt is used up; the last one never reported');
    return '{"verdict": "terminal", "state": "failed", "exhausted": true}';
  end if;
  wait_ms := await_turn(this, at, turn_ms);
  if wait_ms is not null then return jsonb_build_object('verdict', 'busy', 'waitMs', wait_ms); end if;

  select greatest(run_fence + 1, floor(extract(epoch from clock_timestamp()) * 1000000)::bigint) into next_fence
  from cron where space = the_space and name = this.cron;
  if next_fence > 9007199254740991 then return '{"verdict": "fence-exhausted"}'; end if;
  update cron set run_fence = next_fence where space = the_space and name = this.cron;
  update run set state = 'running', nonce = request ->> 'nonce', fence = next_fence, worker = request ->> 'worker',
    attempt = attempt + 1, started_at = coalesce(started_at, at), attempted_at = at, waiting = null, pending = false,
    notify = coalesce(nullif(request ->> 'notify', ''), notify), lease_ms = (request ->> 'ttlMs')::bigint, lease_until = at + (request ->> 'ttlMs')::bigint,
    open_until = at + (request ->> 'ttlMs')::bigint, watch_at = at + (request ->> 'ttlMs')::bigint
  where space = the_space and id = this.id returning * into this;
  if this.attempt > 1 then perform overtake_attempts(the_space, this.id); end if;
  return describe_begun(this);
end
$$;
