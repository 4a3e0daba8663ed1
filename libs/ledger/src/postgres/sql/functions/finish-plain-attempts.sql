-- Ends, in one statement, the current attempts that end for good and that no notification is recorded of. Expects the rows of
-- their crons to be locked. Whatever needs a second look is left to finish_attempts.
--
-- the_space  deployment and tenant
-- requests  as finish_attempts gets them
-- locked  the crons whose rows are locked
-- Returns  the state of each that has ended, with its position in the list, from 1; the others are left out
create or replace function finish_plain_attempts(the_space text, requests jsonb, locked text[])
returns table (at_place bigint, reply text)
language plpgsql set search_path from current
as $$
declare
  at bigint := now_ms();
begin
  return query with asked as (
    select listed.*, row_number() over (partition by listed.run_id order by listed.place) as turn
    from rows from (jsonb_to_recordset(requests)
      as (cron text, "runId" text, fence bigint, nonce text, kind text, error text, result text)) with ordinality
      as listed (cron, run_id, fence, nonce, kind, error, result, place)
  ), current as (
    select asked.*, found.at_row
    from asked
    -- Kept apart by its offset: joined freely, it could be a plan that reads all of the table.
    cross join lateral (
      select run.ctid as at_row from run
      where run.space = the_space and run.id = asked.run_id
        and is_current(run, asked.fence, asked.nonce) and coalesce(position(asked.kind in run.notify), 0) = 0
      offset 0
    ) found
    -- Of two about one run the second is answered by what the first has made of it.
    where asked.turn = 1 and asked.kind in ('succeeded', 'failed', 'cancelled') and asked.cron = any (locked)
  ), ended as (
    update run set state = current.kind, error = nullif(current.error, ''),
      finish_nonce = current.nonce, finish_state = current.kind, question = null,
      finished_at = at, open_until = null, watch_at = null
    from current where run.ctid = current.at_row
    returning current.place, current.kind, current.run_id, current.result
  ), returned as (
    insert into run_result (space, run_id, result)
    select the_space, ended.run_id, ended.result from ended where ended.kind = 'succeeded' and ended.result is not null
    on conflict (space, run_id) do update set result = excluded.result
  )
  select ended.place, ended.kind from ended;
end
$$;
