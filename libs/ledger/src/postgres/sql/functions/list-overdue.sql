-- Lists the runs of many crons that are due for a look, and moves their next look into the future.
-- Its reply is decoded by postgres-occurrence-codec.ts.
--
-- the_space  whose crons they are
-- the_crons  their names
-- the_again  look again after, ms
-- the_keep  how many runs, and how many ranges, of a cron are kept
-- the_keep_ms  how long a finished run is kept, ms
-- the_most  how many of a cron at most
-- Returns  for each cron in order {runs: [{runId, delivery, state, priority}], watched, surplus, notifications}; watched: how
--          many will be due some time; surplus: whether something is kept that need not be; notifications: how many wait
--
-- Only crons that have something due are locked: a sweep that finds nothing blocks no other transaction.
create or replace function list_overdue(
  the_space text, the_crons text[], the_again bigint, the_keep bigint, the_keep_ms bigint, the_most bigint
) returns json
language plpgsql
set search_path from current set enable_seqscan = off
as $$
declare
  at_now bigint := now_ms();
  busy constant text[] := array(
    select distinct cron from run where space = the_space and cron = any(the_crons) and is_watched and watch_at <= at_now
  );
  shown jsonb := '{}';
  one text;
begin
  if busy <> '{}' then
    perform from cron where space = the_space and name = any(busy) order by name for update;
    at_now := now_ms();
    foreach one in array busy loop
      shown := shown || jsonb_build_object(one, move_looks(the_space, one, at_now, the_again, the_most));
    end loop;
  end if;
  return (
    select coalesce(json_agg(json_build_object(
      'runs', coalesce(shown->name, '[]'),
      'watched', (select count(*) from run where space = the_space and cron = name and is_watched),
      'surplus', has_surplus(the_space, name, the_keep, at_now - the_keep_ms),
      'notifications', (select count(*) from notification where space = the_space and cron = name)
    ) order by place), '[]')
    from unnest(the_crons) with ordinality as asked_for (name, place)
  );
end $$;
