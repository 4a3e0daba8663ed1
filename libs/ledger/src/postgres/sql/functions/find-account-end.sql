-- Finds where a part of an account ends that has at most so many runs; the runs of one instant are not divided.
--
-- the_space  whose cron it is
-- the_cron  its name
-- the_from  epoch ms
-- the_to  epoch ms; not itself
-- the_most  so many runs
-- Returns  epoch ms, not itself: the_to where there are no more runs than that
create or replace function find_account_end(the_space text, the_cron text, the_from bigint, the_to bigint, the_most integer)
returns json
language sql volatile
set search_path from current
as $$
  with of_then as (
    select scheduled_at from run
    where space = the_space and cron = the_cron and generation >= 0 and scheduled_at >= the_from and scheduled_at < the_to
  ),
  beyond as (select scheduled_at from of_then order by scheduled_at offset the_most limit 1)
  select to_json(coalesce(
    (select greatest(scheduled_at, (select min(scheduled_at) from of_then) + 1) from beyond), the_to))
$$;
