-- Extends, in one statement, the run leases of current attempts, and says of each whether it was cancelled.
--
-- the_space  deployment and tenant
-- requests  a list of {cron, runId, fence, nonce, ttlMs}
-- Returns  a list in the same order: extended | cancelled | stale
--
-- An expired lease isn't revived: a successor may have been let in on the strength of its end. The lease of a run that was
-- cancelled ends with its grace at the latest, so that nothing waits for the worker longer than that.
create or replace function heartbeat_attempts(the_space text, requests jsonb) returns jsonb
language plpgsql set search_path from current set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
declare
  locked text[] := (lock_crons(the_space, requests)).names;
  at bigint := now_ms();
  replies text[];
begin
  with asked as (
    select one, place, case when one ->> 'cron' = any (locked) then (
      select run.ctid from run where run.space = the_space and run.id = one ->> 'runId'
    ) end as at_row
    from jsonb_array_elements(requests) with ordinality list (one, place)
  ), judged as (
    select asked.place, asked.at_row, (asked.one ->> 'ttlMs')::bigint as ttl, run.cancel_until,
      coalesce(check_attempt(run, asked.one) and run.lease_until > at, false) as alive
    from asked left join run on run.ctid = asked.at_row
  ), extended as (
    update run set lease_ms = last.ttl, lease_until = last.until, open_until = last.until, watch_at = last.until
    from (
      select distinct on (at_row) at_row, ttl, least(at + ttl, cancel_until) as until
      from judged where alive order by at_row, place desc
    ) last
    where run.ctid = last.at_row
  )
  select array_agg(
    case when not alive then 'stale' when cancel_until is null then 'extended' else 'cancelled' end order by place
  ) into replies from judged;
  perform refuse_attempt(the_space, requests -> (place::integer - 1) ->> 'cron')
  from unnest(replies) with ordinality list (reply, place) where reply = 'stale';
  return to_jsonb(replies);
end
$$;
