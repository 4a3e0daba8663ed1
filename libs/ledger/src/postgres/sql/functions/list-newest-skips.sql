-- Lists the newest skipped ranges of each of these crons.
--
-- the_space  whose crons they are
-- the_crons  their names
-- the_most  how many of each at most
-- Returns  in the order of the names a list of {after, through, reason}, the newest first
create or replace function list_newest_skips(the_space text, the_crons text[], the_most bigint) returns json
language sql stable
set search_path from current
as $$
  select coalesce(json_agg(coalesce(newest.shown, '[]') order by asked_for.place), '[]')
  from unnest(the_crons) with ordinality as asked_for (name, place)
  cross join lateral (
    select json_agg(json_build_object('after', after, 'through', through, 'reason', reason)
      order by through desc, after desc) as shown
    from (
      select after, through, reason from skip where space = the_space and cron = asked_for.name
      order by through desc, after desc limit the_most
    ) as each
  ) as newest
$$;
