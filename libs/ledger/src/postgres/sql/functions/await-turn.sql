-- Says when a run may ask again while its cron is at its concurrency limit, or, for queue-all, while the queue ahead is full.
--
-- this  the run
-- at  now, epoch milliseconds
-- turn_ms  ask again after, whatever the others' leases say
-- Returns  milliseconds; null when it is its turn
--
-- A cancelled predecessor whose grace has passed is fenced out before its successor begins. A waiting run asks again soon
-- after its predecessor's end, which may come long before the predecessor's lease expires. The head of the queue asks most
-- often: the queue moves no faster than its head asks.
create or replace function await_turn(this run, at bigint, turn_ms bigint) returns bigint
language plpgsql set search_path from current
as $$
declare
  ever constant bigint := 9223372036854775807;
  alive bigint;
  ahead bigint;
  soonest bigint;
  place bigint := 4;
begin
  if this.overlap = 'allow' then return null; end if;
  perform end_run(space, id, 'cancelled', at) from run
  where space = this.space and cron = this.cron and is_open and open_until <= at and id <> this.id
    and cancel_until is not null;
  select count(*) filter (where open_until < ever), min(open_until),
    count(*) filter (where this.overlap = 'queue-all' and (scheduled_at, id) < (this.scheduled_at, this.id))
  into alive, soonest, ahead from run
  where space = this.space and cron = this.cron and is_open and open_until > at and id <> this.id;
  if greatest(alive, ahead) < this.max_concurrency then return null; end if;
  if this.overlap = 'queue-all' then place := least(greatest(ahead - this.max_concurrency, 0) + 1, 4); end if;
  return least(soonest - at, turn_ms * place / 4);
end
$$;
