-- Records a notification that a run has entered a state, if an attempt of the run asked for it when it began.
-- Expects the row of the cron to be locked.
--
-- this  the run, as it is by now
-- at  epoch milliseconds
-- Returns  nothing
--
-- Written in the transaction that changes the state: if the process dies next, the notification waits for the next worker
-- or sweep. Unsettled notifications are bounded: the oldest are dropped, and counted.
create or replace function note_notification(this run, at bigint) returns void
language plpgsql set search_path from current
as $$
declare
  max_notifications constant bigint := 1000;
  surplus bigint;
begin
  if coalesce(position(this.state in this.notify), 0) = 0 or this.state not in ('succeeded', 'failed', 'uncertain') then
    return;
  end if;
  insert into notification (space, cron, run_id, state, notify, attempt, at, took_ms, error, question)
  values (this.space, this.cron, this.id, this.state, this.notify, this.attempt, at,
    greatest(0, at - coalesce(this.attempted_at, at)), this.error, this.question);
  select count(*) - max_notifications into surplus from notification where space = this.space and cron = this.cron;
  if surplus > 0 then
    delete from notification where space = this.space and cron = this.cron and id in (
      select id from notification where space = this.space and cron = this.cron order by id limit surplus
    );
    update cron set notifications_dropped = notifications_dropped + surplus, notification_dropped_at = at
    where space = this.space and name = this.cron;
  end if;
end
$$;
