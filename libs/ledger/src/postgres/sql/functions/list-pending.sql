-- Lists the runs of a cron that were claimed and never confirmed, the oldest first.
--
-- the_space  whose cron it is
-- the_cron  its name
-- the_most  how many at most
-- Returns  a list of {runId, delivery, priority}
create or replace function list_pending(the_space text, the_cron text, the_most bigint) returns json
language sql stable
set search_path from current
as $$
  select coalesce(json_agg(json_build_object('runId', id, 'delivery', delivery, 'priority', priority)
    order by scheduled_at, id), '[]')
  from (
    select id, delivery, priority, scheduled_at from run where space = the_space and cron = the_cron and is_watched and pending
    order by scheduled_at, id limit the_most
  ) as oldest
$$;
