-- Lists the open runs of a cron that wait for an attempt, in the order of their ids.
--
-- the_space  whose cron it is
-- the_cron  its name
-- the_most  how many at most
-- Returns  a list of {runId, delivery, state, priority}
create or replace function list_unstarted(the_space text, the_cron text, the_most bigint) returns json
language sql stable
set search_path from current
as $$
  select coalesce(json_agg(
    json_build_object('runId', id, 'delivery', delivery, 'state', state, 'priority', priority) order by id
  ), '[]')
  from (
    select id, delivery, state, priority from run
    where space = the_space and cron = the_cron and is_open and open_until = 9223372036854775807
    order by id limit the_most
  ) as oldest
$$;
