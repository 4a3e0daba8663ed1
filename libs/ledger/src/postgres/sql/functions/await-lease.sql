-- Says how long the worker of a run is alive at least, and cuts a lease that a clock left when it went back.
--
-- this  the run
-- at  now, epoch milliseconds
-- Returns  milliseconds; 0 or less when no worker holds it
--
-- More than was ever asked for was left by such a clock. The attempt's own length is the measure: a worker with a shorter
-- one must not cut a healthy lease.
create or replace function await_lease(this run, at bigint) returns bigint
language plpgsql set search_path from current
as $$
begin
  if this.state <> 'running' then return 0; end if;
  if this.lease_until - at <= this.lease_ms * 2 then return this.lease_until - at; end if;
  update run set lease_until = at + this.lease_ms, open_until = at + this.lease_ms, watch_at = at + this.lease_ms
  where space = this.space and id = this.id;
  return this.lease_ms;
end
$$;
