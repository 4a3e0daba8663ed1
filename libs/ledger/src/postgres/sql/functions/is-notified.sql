-- Says whether a notification belongs to the state that a run is in: an attempt of it asked for it when it began.
--
-- this  the run, as it is by now
-- Returns  true or false, never null
create or replace function is_notified(this run) returns boolean
language sql stable
as $$
  select this.state in ('succeeded', 'failed', 'uncertain') and coalesce(position(this.state in this.notify), 0) > 0
$$;
