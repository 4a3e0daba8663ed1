-- Reads all that is recorded of the instants of a cron from one to another.
--
-- the_space  whose cron it is
-- the_cron  its name
-- the_from  epoch ms
-- the_to  epoch ms; not itself
-- the_keep_ms  how long a finished run is kept, ms
-- Returns  {runs, skips, forgotten}, the runs as describe_run shows them; forgotten: of instants up to there some may be
--          missing, or null
create or replace function read_account(the_space text, the_cron text, the_from bigint, the_to bigint, the_keep_ms bigint)
returns json
language sql volatile
set search_path from current
as $$
  with of_then as (
    select describe_run(run) as shown, scheduled_at, id, coalesce(finished_at + the_keep_ms <= now_ms(), false) as gone
    from run where space = the_space and cron = the_cron and generation >= 0
      and scheduled_at >= the_from and scheduled_at < the_to
  )
  select json_build_object(
    'runs', (select coalesce(json_agg(shown order by scheduled_at, id), '[]') from of_then where not gone),
    'skips', (
      select coalesce(json_agg(json_build_object('after', after, 'through', through, 'reason', reason)
        order by through, after), '[]')
      from skip where space = the_space and cron = the_cron and through >= the_from and after + 1 < the_to
    ),
    'forgotten', greatest(
      (select forgotten from cron where space = the_space and name = the_cron),
      (select max(scheduled_at) from of_then where gone)
    )
  )
$$;
