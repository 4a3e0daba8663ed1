-- Forgets finished runs of many crons, beyond the newest or older than is kept, and skipped ranges beyond the same number.
--
-- the_space  whose crons they are
-- the_crons  their names
-- the_keep  how many to keep per cron
-- the_keep_ms  how long a finished run is kept, ms
-- the_most  how many runs to forget per cron at most
-- the_enough  after this many runs, leave the remaining crons to the next call
-- Returns  for each cron in order how many runs were forgotten; shorter than the_crons if any are left
--
-- The rows are locked in the order of their names, so that no two calls wait for each other.
--
-- Planned as begin_attempts is, and so is all that it calls.
create or replace function forget_runs(
  the_space text, the_crons text[], the_keep bigint, the_keep_ms bigint, the_most bigint, the_enough bigint
) returns json
language plpgsql
set search_path from current set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
declare
  -- So many contain all runs of each cron whose first run is among those that are enough.
  the_limit constant bigint := the_enough + the_most - 1;
  ended bigint;
  gone tid[];
  replies json;
begin
  perform from (select name from unnest(the_crons) as list (name) order by name collate "C") as asked
  cross join lateral (select from cron where space = the_space and cron.name = asked.name for update) as locked;
  ended := now_ms() - the_keep_ms;
  perform forget_ids(the_space, the_crons, 2 * the_limit);
  perform forget_skips(the_space, the_crons, the_keep, the_limit);

  with found as (
    -- Cron by cron, and no further than the limit: a cron that is not reached is not read.
    select asked.place, old.at_row
    from unnest(the_crons) with ordinality as asked (name, place)
    left join lateral (
      -- The instant of the newest run that need not be kept. Its id counts only where the oldest run to keep has the same instant:
      -- to sort by the id of every run would take longer than the rest.
      select min(scheduled_at) as instant, case when count(*) > 1 and min(scheduled_at) = max(scheduled_at) then (
        select id from run where space = the_space and cron = asked.name and generation >= 0
        order by scheduled_at desc, id desc offset the_keep limit 1
      ) end as id
      from (
        select scheduled_at from run where space = the_space and cron = asked.name and generation >= 0
        order by scheduled_at desc offset greatest(the_keep - 1, 0) limit 1 + least(the_keep, 1)
      ) as boundary
      having count(*) > least(the_keep, 1)
    ) as surplus on true
    cross join lateral (
      -- No run ended before its instant: none beyond the later of the two has to be read.
      select ctid as at_row from run
      where space = the_space and cron = asked.name and generation >= 0 and finished_at is not null
        and scheduled_at <= greatest(surplus.instant, ended)
        and ((scheduled_at, id) <= (surplus.instant, coalesce(surplus.id, id)) or finished_at <= ended)
      order by scheduled_at limit the_most
    ) as old
    limit the_limit
  ), chosen as (
    -- At the limit the last cron may lack some of its runs.
    select place, at_row from (select *, rank() over (order by place) as first from found) as ranked
    where first <= the_enough or (select count(*) from found) < the_limit
  ), counted as (
    select place, count(*) as forgotten from chosen group by place
  )
  select array(select at_row from chosen), (
    select json_agg(coalesce(forgotten, 0) order by place)
    from generate_series(1, case when (select count(*) from found) < the_limit then cardinality(the_crons)
      else (select max(place) from chosen) end) as place
    left join counted using (place)
  ) into gone, replies;
  if gone <> '{}' then perform delete_runs(the_space, gone); end if;
  return replies;
end $$;
