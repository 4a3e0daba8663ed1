-- Finds the latest run of a cron that succeeded, among those before one of its runs.
--
-- the_space  whose run it is
-- the_run  the run before which it looks
-- the_most  how many runs it looks at
-- the_keep_ms  how long a finished run is kept, ms
-- Returns  the run as describe_run shows it | null
create or replace function find_success(the_space text, the_run text, the_most bigint, the_keep_ms bigint) returns json
language sql volatile
set search_path from current set enable_seqscan = off
as $$
  select describe_run(this) from (
    select run as this, run.state, run.finished_at
    from run as own join run on run.space = own.space and run.cron = own.cron and run.generation >= 0
      -- The first condition alone can be looked up.
      and run.scheduled_at <= own.scheduled_at and (run.scheduled_at, run.id) < (own.scheduled_at, own.id)
    where own.space = the_space and own.id = the_run
    order by run.scheduled_at desc, run.id desc limit the_most
  ) as before
  where state = 'succeeded' and finished_at + the_keep_ms > now_ms() limit 1
$$;
