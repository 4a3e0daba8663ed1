-- Ends current attempts: each run succeeds, fails, was cancelled, waits for its next attempt, or for a person. In one statement
-- where all end for good, and in another one whatever becomes of the rest; two more where notifications are recorded.
--
-- the_space  deployment and tenant
-- requests  a list of {cron, runId, fence, nonce, kind, error, delayMs, question, result}; kind: succeeded | failed | cancelled
--           | retry | uncertain
-- sweep_ms  how long after its next attempt is due a waiting run is checked
-- Returns  a list in the same order: the state, or null for a stale attempt
--
-- An uncertain run blocks no other run and is not delivered: only an operator's answer moves it.
--
-- Planned as begin_attempts is, and so is all that it calls.
create or replace function finish_attempts(the_space text, requests jsonb, sweep_ms bigint) returns json
language plpgsql set search_path from current set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
declare
  ever constant bigint := 9223372036854775807;
  at bigint := now_ms();
  locked text[] := (lock_crons(the_space, requests)).names;
  plain bigint[];
  states text[];
  replies json;
  notified run[];
begin
  select array_agg(one.at_place order by one.at_place), array_agg(one.reply order by one.at_place) into plain, states
  from finish_plain_attempts(the_space, requests, locked) one;
  if cardinality(plain) = jsonb_array_length(requests) then return array_to_json(states); end if;
  -- Materialized: else each run would be looked up twice.
  with asked as materialized (
    select place, one ->> 'runId' as run_id, one ->> 'cron' as cron, one ->> 'nonce' as nonce, one as proof,
      (select run.ctid from run where run.space = the_space and run.id = one ->> 'runId') as at_row
    from jsonb_array_elements(requests) with ordinality list (one, place)
    where one ->> 'cron' = any (locked) and place <> all (coalesce(plain, '{}'))
  ), found as (
    select asked.*, check_attempt(run, asked.proof) as is_current,
      case when run.finish_nonce = asked.nonce then run.finish_state end as ended_before,
      -- An attempt that ended before it learned of the cancellation is not retried, and needs no operator.
      case when asked.proof ->> 'kind' in ('retry', 'uncertain') and run.cancel_until is not null then 'cancelled'
        when asked.proof ->> 'kind' = 'retry' then 'enqueued' else asked.proof ->> 'kind' end as ending
    from asked left join run on run.ctid = asked.at_row
  ), current as (
    select distinct on (found.run_id) found.*,
      case when found.ending = 'enqueued' then at + (found.proof ->> 'delayMs')::bigint end as due
    from found where found.is_current order by found.run_id, found.place
  ), ended as (
    update run set state = current.ending, error = nullif(current.proof ->> 'error', ''),
      finish_nonce = current.nonce, finish_state = current.ending,
      question = case when current.ending = 'uncertain' then current.proof -> 'question' end,
      doubted_at = case when current.ending = 'uncertain' then at else run.doubted_at end,
      finished_at = case when current.ending in ('enqueued', 'uncertain') then run.finished_at else at end,
      not_before = coalesce(current.due, run.not_before),
      open_until = case current.ending when 'enqueued' then ever when 'uncertain' then 0 end,
      watch_at = current.due + sweep_ms
    from current where run.ctid = current.at_row
    returning current.run_id, current.nonce, current.ending, run as this, is_notified(run) as notifies
  ), returned as (
    insert into run_result (space, run_id, result)
    select the_space, current.run_id, current.proof ->> 'result' from current
    where current.ending = 'succeeded' and current.proof ->> 'result' is not null
    on conflict (space, run_id) do update set result = excluded.result
  ), answered as (
    -- Of two about one run the second is answered by what the first has made of it.
    select found.place, found.cron, coalesce(ended.ending, found.ended_before) as reply
    from found left join ended on ended.run_id = found.run_id and ended.nonce = found.nonce
  ), stale as (
    select answered.cron, count(*) as calls,
      (select cron.ctid from cron where cron.space = the_space and cron.name = answered.cron) as at_row
    from answered where answered.reply is null group by answered.cron
  ), refused as (
    update cron set refusals = refusals + stale.calls from stale where cron.ctid = stale.at_row
  )
  select (
      select json_agg(coalesce(answered.reply, states[array_position(plain, place)]) order by place)
      from generate_series(1, jsonb_array_length(requests)) place left join answered using (place)
    ), (select array_agg(ended.this order by ended.run_id) from ended where ended.notifies)
  into replies, notified;
  if notified is not null then perform note_notifications(the_space, notified, at); end if;
  return replies;
end
$$;
