-- Ends a run for good: it is no longer watched, delivered or counted as open.
--
-- the_space  deployment and tenant
-- the_run  its id
-- ending  succeeded | failed | cancelled | skipped
-- at  now, epoch milliseconds
-- why  the error; null keeps the recorded one
-- Returns  nothing
--
-- What only waits is skipped here for one reason: no worker came before its start deadline.
create or replace function end_run(the_space text, the_run text, ending text, at bigint, why text default null)
returns void
language plpgsql set search_path from current
as $$
declare
  this run;
begin
  update run set state = ending, finished_at = at, error = coalesce(why, error), question = null,
    skipped = case when ending = 'skipped' then 'misfire' else skipped end,
    open_until = null, watch_at = null, pending = false
  where space = the_space and id = the_run returning * into this;
  if is_notified(this) then perform note_notifications(the_space, array[this], at); end if;
  perform overtake_attempts(the_space, the_run);
end
$$;
