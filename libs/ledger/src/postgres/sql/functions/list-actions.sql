-- Lists the latest operator actions on a cron.
--
-- the_space  whose cron it is
-- the_cron  its name
-- the_most  how many at most; never more than a thousand
-- Returns  a list of {at, action, by, reason, runId}, the newest first
create or replace function list_actions(the_space text, the_cron text, the_most bigint) returns json
language sql stable
set search_path from current
as $$
  select coalesce(json_agg(
    json_build_object('at', at, 'action', action, 'by', by, 'reason', reason, 'runId', run_id) order by id desc
  ), '[]')
  from (
    select id, at, action, by, reason, run_id from action where space = the_space and cron = the_cron
    order by id desc limit least(the_most, 1000)
  ) as newest
$$;
