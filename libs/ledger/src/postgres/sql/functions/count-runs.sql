-- Counts the runs of many crons.
--
-- the_space  whose crons they are
-- the_crons  their names
-- the_keep_ms  how long a finished run is kept, ms
-- Returns  for each in order how many there are of instants since then
create or replace function count_runs(the_space text, the_crons text[], the_keep_ms bigint) returns json
language sql volatile
set search_path from current
as $$
  select coalesce(json_agg(
    (select count(*) from run where space = the_space and cron = asked_for.name and generation >= 0
      and scheduled_at > the_clock.now - the_keep_ms)
    order by asked_for.place
  ), '[]')
  from unnest(the_crons) with ordinality as asked_for (name, place), (select now_ms() as now) as the_clock
$$;
