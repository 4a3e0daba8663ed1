-- Starts, in one statement, the first attempts of those runs that nothing speaks against. Expects the rows of their crons to
-- be locked. Whatever may need a second look is left to begin_attempt, one by one.
--
-- the_space  deployment and tenant
-- requests  a list of {cron, runId, nonce, worker, ttlMs, maxAttempts, notify}
-- locked  the crons whose rows are locked
-- the_rows  where these are, in the same order
-- the_fences  the highest of an attempt of each, in the same order
-- Returns  what begin_attempt would answer, each with its position in the list, from 1; the others are left out
--
-- The fences of a cron are taken in one write: a version of its row for each of them would be most of the work. A request that
-- is left out takes one too.
--
-- What is written is joined by nothing but the places of rows: the planner takes a batch for a single row, and would compare
-- each of its names with each other one.
create or replace function begin_plain_attempts(
  the_space text, requests jsonb, locked text[], the_rows tid[], the_fences bigint[]
)
returns table (at_place bigint, reply json)
language plpgsql set search_path from current
as $$
declare
  at bigint := now_ms();
  micros bigint := floor(extract(epoch from clock_timestamp()) * 1000000)::bigint;
begin
  return query with wanted as (
    select unnest(locked) as name, unnest(the_rows) as at_row, greatest(unnest(the_fences), micros - 1) as fence
  ), asked as (
    -- Of two about one run only the first: the second is answered by what that one has made of it.
    select listed.*, wanted.at_row as cron_row,
      row_number() over (partition by listed.run_id order by listed.place) as asks,
      wanted.fence + row_number() over (partition by listed.cron order by listed.place) as fence
    from rows from (jsonb_to_recordset(requests) as (
      cron text collate "C", "runId" text collate "C", nonce text, worker text, "ttlMs" bigint, notify text
    )) with ordinality as listed (cron, run_id, nonce, worker, ttl, notify, place)
    join wanted on wanted.name = listed.cron
  ), plain as materialized (
    select asked.place, asked.nonce, asked.worker, asked.ttl, asked.notify, asked.cron_row, asked.fence, found.at_row
    from asked
    -- Kept apart by its offset: joined freely, it could be a plan that reads all of the table.
    cross join lateral (
      select run.ctid as at_row from run
      where run.space = the_space and run.id = asked.run_id and run.cron = asked.cron
        and run.state in ('claimed', 'enqueued') and run.attempt = 0
        and run.cancel_until is null and (run.overlap = 'allow' or not exists (
          select from run other where other.space = the_space and other.cron = run.cron and other.is_open and other.id <> run.id
        ))
        and coalesce(run.not_before, 0) <= at and coalesce(run.start_by, at) >= at
      offset 0
    ) found
    where asked.asks = 1 and asked.fence <= 9007199254740991
  ), taken as (
    update cron set run_fence = newest.fence
    from (select plain.cron_row, max(plain.fence) as fence from plain group by plain.cron_row) newest
    where cron.ctid = newest.cron_row
  ), begun as (
    update run set state = 'running', nonce = plain.nonce, fence = plain.fence, worker = plain.worker,
      attempt = 1, started_at = coalesce(run.started_at, at), attempted_at = at, waiting = null, pending = false,
      notify = nullif(plain.notify, ''),
      lease_ms = plain.ttl, lease_until = at + plain.ttl, open_until = at + plain.ttl, watch_at = at + plain.ttl
    from plain
    where run.ctid = plain.at_row
    returning plain.place, describe_begun(run) as said
  )
  select begun.place, begun.said from begun;
end
$$;
