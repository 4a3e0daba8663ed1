-- Reads the alarm records of crons.
--
-- the_space  whose crons they are
-- the_crons  their names
-- Returns  {now, records}: epoch ms, and of each cron in order its record or null
create or replace function read_alarms(the_space text, the_crons text[]) returns json
language sql volatile
set search_path from current
as $$
  select json_build_object('now', now_ms(), 'records', coalesce(json_agg(record order by place), '[]'))
  from unnest(the_crons) with ordinality as asked_for (name, place)
  left join alarm_record on space = the_space and cron = asked_for.name
$$;
