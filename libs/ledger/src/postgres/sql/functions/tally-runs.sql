-- Counts runs of a cron by what became of them, in buckets of time.
--
-- the_space  whose cron it is
-- the_cron  its name
-- the_from  epoch ms
-- the_to  epoch ms; not itself
-- the_bucket_ms  how long a bucket is
-- the_grace_ms  started later than this after it was due a run is late
-- the_keep_ms  how long a finished run is kept, ms
-- Returns  {rows, skips, forgotten}: rows of {at, state, reason, skipped, retried, late, natural, count}, the rest as
--          read_account has it
create or replace function tally_runs(
  the_space text, the_cron text, the_from bigint, the_to bigint, the_bucket_ms bigint, the_grace_ms bigint,
  the_keep_ms bigint
) returns json
language sql volatile
set search_path from current
as $$
  with of_then as (
    select scheduled_at - scheduled_at % the_bucket_ms as at, state, reason,
      case when skipped = 'overlap' then coalesce(waiting, 'overlap') else skipped end as skipped, attempt > 1 as retried,
      coalesce(started_at - due_at > the_grace_ms and reason in ('schedule', 'catch-up'), false) as late,
      id = cron || '@' || scheduled_at as "natural", scheduled_at,
      coalesce(finished_at + the_keep_ms <= now_ms(), false) as gone
    from run where space = the_space and cron = the_cron and generation >= 0
      and scheduled_at >= the_from and scheduled_at < the_to
  ),
  counted as (
    select at, state, reason, skipped, retried, late, "natural", count(*) as count
    from of_then where not gone group by at, state, reason, skipped, retried, late, "natural"
  )
  select json_build_object(
    'rows', (select coalesce(json_agg(counted order by at), '[]') from counted),
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
