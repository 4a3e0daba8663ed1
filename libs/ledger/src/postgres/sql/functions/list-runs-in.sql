-- Lists the latest runs of many crons that are in one state.
--
-- the_space  whose crons they are
-- the_state  failed | uncertain
-- the_crons  their names
-- the_most  how many of each at most
-- the_keep_ms  how long a finished run is kept, ms
-- Returns  a list of runs as describe_run shows them, the latest first: by when each came into that state
create or replace function list_runs_in(the_space text, the_state text, the_crons text[], the_most bigint, the_keep_ms bigint)
returns json
language sql volatile
set search_path from current
as $$
  select coalesce(json_agg(latest.shown order by latest.since desc, latest.id desc), '[]')
  from (select distinct unnest(the_crons) as name) as asked_for
  cross join lateral (
    select describe_run(run) as shown, coalesce(finished_at, doubted_at) as since, id from run
    where space = the_space and cron = asked_for.name and is_troubled and state = the_state
      and (finished_at is null or finished_at + the_keep_ms > now_ms())
    order by coalesce(finished_at, doubted_at) desc, id desc limit the_most
  ) as latest
$$;
