-- Lists the runs of a cron that are due for a look, and moves their next look into the future.
--
-- the_space  whose cron it is
-- the_cron  its name, locked
-- the_now  epoch ms
-- the_again  look again after, ms
-- the_most  how many at most
-- Returns  a list of {runId, delivery, state, priority}
--
-- The next look is moved first: after a sweep crashed, its runs come up again after the interval, and not at once on every pod.
create or replace function move_looks(the_space text, the_cron text, the_now bigint, the_again bigint, the_most bigint)
returns json
language sql volatile
set search_path from current
as $$
  with due as (
    select id, watch_at as due_for_a_look from run
    where space = the_space and cron = the_cron and is_watched and watch_at <= the_now
    order by watch_at, id limit the_most
  ), moved as (
    update run set watch_at = the_now + the_again from due
    where run.space = the_space and run.id = due.id
    returning run.id, run.delivery, run.state, run.priority, due.due_for_a_look
  )
  select coalesce(json_agg(
    json_build_object('runId', id, 'delivery', delivery, 'state', state, 'priority', priority)
    order by due_for_a_look, id
  ), '[]') from moved
$$;
