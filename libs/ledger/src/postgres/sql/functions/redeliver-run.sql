-- Numbers one more delivery of a run that no worker executes, and orphans the run when its worker is gone.
--
-- the_space  whose run it is
-- the_cron  its cron
-- the_run  its id
-- the_delivery  the last delivery the caller knows
-- the_nonce  of this call
-- Returns  {runId, delivery, priority} | null when there is nothing to deliver
--
-- The delivery number is compared, so that two sweeps that saw the same run hand it over once.
create or replace function redeliver_run(the_space text, the_cron text, the_run text, the_delivery bigint, the_nonce text)
returns json
language plpgsql
set search_path from current set enable_seqscan = off
as $$
declare
  this run;
  at_now bigint;
begin
  perform lock_cron(the_space, the_cron);
  at_now := now_ms();
  select * into this from run where space = the_space and id = the_run for update;
  if not found then return null; end if;
  if this.delivery_nonce = the_nonce then
    return json_build_object('runId', the_run, 'delivery', this.delivery, 'priority', this.priority);
  end if;
  if this.state in ('succeeded', 'failed', 'cancelled', 'skipped', 'uncertain') then return null; end if;
  if this.state = 'running' and this.lease_until > at_now then return null; end if;
  -- These may never begin: no worker has their handler, or that worker is gone.
  if this.cancel_until is not null or (this.attempt = 0 and this.start_by < at_now) then
    perform end_run(the_space, the_run, case when this.cancel_until is not null then 'cancelled' else 'skipped' end, at_now);
    return null;
  end if;
  if this.delivery <> the_delivery then return null; end if;
  update run set
    state = case when this.state = 'running' then 'orphaned' else this.state end,
    open_until = case when this.state = 'running' then 0 else open_until end,
    delivery = this.delivery + 1, delivery_nonce = the_nonce
  where space = the_space and id = the_run;
  if this.state = 'running' then perform overtake_attempts(the_space, the_run); end if;
  return json_build_object('runId', the_run, 'delivery', this.delivery + 1, 'priority', this.priority);
end $$;
