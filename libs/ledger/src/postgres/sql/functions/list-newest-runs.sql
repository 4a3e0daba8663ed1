-- Lists the newest runs of each of these crons.
--
-- the_space  whose crons they are
-- the_crons  their names
-- the_most  how many of each at most
-- the_from  the first instant that counts, epoch ms; null: any
-- the_to  the first later one that does not; null: none
-- the_keep_ms  how long a finished run is kept, ms
-- Returns  in the order of the names a list of runs as describe_run shows them, the newest first
create or replace function list_newest_runs(
  the_space text, the_crons text[], the_most bigint, the_from bigint, the_to bigint, the_keep_ms bigint
) returns json
language sql volatile
set search_path from current
as $$
  select coalesce(json_agg(coalesce(newest.shown, '[]') order by asked_for.place), '[]')
  from unnest(the_crons) with ordinality as asked_for (name, place)
  cross join lateral (
    select json_agg(describe_run(this) order by scheduled_at desc, id desc) as shown
    from (
      select run as this, scheduled_at, id from run
      where space = the_space and cron = asked_for.name and generation >= 0
        and (the_from is null or scheduled_at >= the_from) and (the_to is null or scheduled_at < the_to)
        and (finished_at is null or finished_at + the_keep_ms > now_ms())
      order by scheduled_at desc, id desc limit the_most
    ) as each
  ) as newest
$$;
