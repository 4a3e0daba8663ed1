-- Ends, in one statement, those current attempts that have succeeded. Expects the rows of their crons to be locked. Whatever
-- else came of an attempt, a success that must be notified, and every stale one, is left to finish_attempt,
-- one by one.
--
-- the_space  deployment and tenant
-- requests  a list of {cron, runId, fence, nonce, kind, error, delayMs, question}
-- locked  the crons whose rows are locked
-- Returns  what finish_attempt would answer, each with its position in the list, from 1; the others are left out
--
-- Planned once in a session, and in one way whatever the statistics say: the first of one id in the order of ids is what no
-- other index than the key can find without a sort, and then the row is where that has found it. Any other plan may be one
-- that reads all of a table or of an index, for as long as the session lasts or until the table is analyzed.
create or replace function finish_plain_attempts(the_space text, requests jsonb, locked text[])
returns table (at_place bigint, reply text)
language plpgsql set search_path from current set plan_cache_mode = force_generic_plan set enable_seqscan = off
  set enable_sort = off set jit = off
as $$
declare
  at bigint := now_ms();
begin
  return query with done as (
    select distinct on (one ->> 'runId') one as proof, place,
      (
        select run.ctid from run where run.space = the_space and run.id between one ->> 'runId' and one ->> 'runId'
        order by run.id limit 1
      ) as at_row
    from jsonb_array_elements(requests) with ordinality list (one, place)
    where one ->> 'cron' = any (locked) and one ->> 'kind' = 'succeeded'
    order by one ->> 'runId', place
  ), ended as (
    update run set state = 'succeeded', error = null, finish_nonce = done.proof ->> 'nonce', finish_state = 'succeeded',
      question = null, finished_at = at, open_until = null, watch_at = null
    from done
    where run.ctid = done.at_row and check_attempt(run, done.proof)
      and coalesce(position('succeeded' in run.notify), 0) = 0
    returning done.place, run.state
  )
  select ended.place, ended.state from ended;
end
$$;
