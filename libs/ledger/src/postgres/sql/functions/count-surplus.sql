-- Says whether more of a cron is there than has to be kept: runs, ranges, or run ids whose time is over.
--
-- the_space  whose cron it is
-- the_cron  its name
-- the_keep  how many runs, and how many ranges, are kept
-- the_ended  runs that ended by then are kept no longer, epoch ms
-- Returns  true | false
--
-- How old they are is asked of the hundred oldest alone: a sweep asks this of every cron.
create or replace function has_surplus(the_space text, the_cron text, the_keep bigint, the_ended bigint) returns boolean
language sql stable
set search_path from current
as $$
  select
    exists (select from run where space = the_space and cron = the_cron and generation >= 0
      order by scheduled_at desc offset the_keep limit 1)
    or exists (select from skip where space = the_space and cron = the_cron
      order by through desc, after desc offset the_keep limit 1)
    or exists (select from used_id where space = the_space and cron = the_cron and until <= (select now_ms()))
    or exists (
      select from (
        select finished_at from run where space = the_space and cron = the_cron and generation >= 0
          and scheduled_at <= the_ended
        order by scheduled_at limit 100
      ) as oldest where finished_at <= the_ended
    )
$$;
