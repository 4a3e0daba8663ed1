-- Ends the current pause of a cron.
--
-- the_space  whose cron it is
-- the_cron  its name
-- the_nonce  of this order
-- Returns  the pause that ended, as {since, until, by, reason} | null when there was none
--
-- The ended pause stays recorded, without its end, for a repeated call.
create or replace function resume_cron(the_space text, the_cron text, the_nonce text) returns json
language plpgsql
set search_path from current set enable_seqscan = off
as $$
declare
  this cron := lock_cron(the_space, the_cron);
  at_now constant bigint := now_ms();
begin
  if this.resume_nonce is distinct from the_nonce then
    update cron set
      resume_nonce = the_nonce, resumed_until = case when paused_until > at_now then paused_until end, paused_until = null
    where space = the_space and name = the_cron
    returning * into this;
  end if;
  return describe_pause(this, this.resumed_until);
end $$;
