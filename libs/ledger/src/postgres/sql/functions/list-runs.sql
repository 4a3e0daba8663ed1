-- Lists the newest runs of a cron.
--
-- the_space  whose cron it is
-- the_cron  its name
-- the_most  how many at most
-- the_keep_ms  how long a finished run is kept, ms
-- Returns  a list of runs as describe_run shows them, the newest first
create or replace function list_runs(the_space text, the_cron text, the_most bigint, the_keep_ms bigint) returns json
language sql volatile
set search_path from current
as $$
  select coalesce(json_agg(shown order by scheduled_at desc, id desc), '[]')
  from (
    select describe_run(run) as shown, scheduled_at, id from run
    where space = the_space and cron = the_cron and (finished_at is null or finished_at + the_keep_ms > now_ms())
    order by scheduled_at desc, id desc limit the_most
  ) as newest
$$;
