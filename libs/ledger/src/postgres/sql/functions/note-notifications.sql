-- Records notifications that runs have entered a state. Expects the rows of their crons to be locked.
--
-- the_space  deployment and tenant
-- the_runs  as they are by now; is_notified holds for each
-- at  epoch milliseconds
-- Returns  nothing
--
-- Written in the transaction that changes the state: if the process dies next, the notification waits for the next worker
-- or sweep. Unsettled notifications are bounded: the oldest are dropped, and counted.
create or replace function note_notifications(the_space text, the_runs run[], at bigint) returns void
language plpgsql set search_path from current
as $$
declare
  max_notifications constant bigint := 1000;
begin
  insert into notification (space, cron, run_id, state, notify, attempt, at, took_ms, error, question)
  select one.space, one.cron, one.id, one.state, one.notify, one.attempt, at,
    greatest(0, at - coalesce(one.attempted_at, at)), one.error, one.question
  from unnest(the_runs) one;
  with surplus as (
    select kept.id, concerned.name from (select distinct one.cron as name from unnest(the_runs) one) concerned
    cross join lateral (
      select notification.id from notification where space = the_space and cron = concerned.name
      order by notification.id desc offset max_notifications
    ) kept
  ), dropped as (
    delete from notification using surplus
    where notification.space = the_space and notification.cron = surplus.name and notification.id = surplus.id
    returning notification.cron
  ), counted as (
    select dropped.cron, count(*) as surplus from dropped group by dropped.cron
  )
  update cron set notifications_dropped = notifications_dropped + counted.surplus, notification_dropped_at = at
  from counted where cron.space = the_space and cron.name = counted.cron;
end
$$;
