-- Reads the records of many crons.
-- Its reply is decoded by postgres-occurrence-codec.ts.
--
-- the_space  whose crons they are
-- the_crons  their names
-- Returns  for each in order {fence, cursor, generation, refusals, paused, droppedNotifications}, the fence
--          as text
--
-- A pause that has run out is left out, by the store's clock.
create or replace function read_crons(the_space text, the_crons text[]) returns json
language sql volatile
set search_path from current
as $$
  select coalesce(json_agg(json_build_object(
    'fence', coalesce(this.fence, 0)::text, 'cursor', this.cursor, 'generation', coalesce(this.generation, 0),
    'refusals', coalesce(this.refusals, 0),
    'paused', case when this.paused_until > now_ms() then describe_pause(this, this.paused_until) end,
    'droppedNotifications', case when this.notifications_dropped > 0
      then json_build_object('count', this.notifications_dropped, 'lastAt', this.notification_dropped_at) end
  ) order by asked_for.place), '[]')
  from unnest(the_crons) with ordinality as asked_for (name, place)
  left join cron as this on this.space = the_space and this.name = asked_for.name
$$;
