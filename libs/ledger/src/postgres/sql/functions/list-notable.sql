-- Finds those of many crons that may need a person: the newest run did not succeed, they are paused without an end, or
-- notifications of theirs were dropped within a day.
--
-- the_space  whose crons they are
-- the_crons  their names
-- the_keep_ms  how long a finished run is kept, ms
-- Returns  a list of names
create or replace function list_notable(the_space text, the_crons text[], the_keep_ms bigint) returns json
language sql volatile
set search_path from current
as $$
  select coalesce(json_agg(name), '[]')
  from unnest(the_crons) as asked_for (name)
  where exists (
    select from cron as this where this.space = the_space and this.name = asked_for.name
      and (this.paused_until = 9223372036854775807 or this.notification_dropped_at > now_ms() - 86400000)
  ) or 'succeeded' <> (
    select state from run where space = the_space and cron = asked_for.name and generation >= 0
      and (finished_at is null or finished_at + the_keep_ms > now_ms())
    order by scheduled_at desc, id desc limit 1
  )
$$;
