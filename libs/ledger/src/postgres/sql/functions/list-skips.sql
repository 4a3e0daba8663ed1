-- Lists the newest skipped ranges of a cron.
--
-- the_space  whose cron it is
-- the_cron  its name
-- the_most  how many at most
-- Returns  a list of {after, through, reason}, the newest first
create or replace function list_skips(the_space text, the_cron text, the_most bigint) returns json
language sql stable
set search_path from current
as $$
  select coalesce(json_agg(json_build_object('after', after, 'through', through, 'reason', reason)
    order by through desc, after desc), '[]')
  from (
    select after, through, reason from skip where space = the_space and cron = the_cron
    order by through desc, after desc limit the_most
  ) as newest
$$;
