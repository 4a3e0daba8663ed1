-- Pauses a cron, or changes the current pause.
--
-- the_space  whose cron it is
-- the_cron  its name
-- the_nonce  of this order
-- the_until  until when, epoch ms; null: until it is resumed
-- the_by  name of the operator
-- the_reason  why
-- Returns  {since, until, by, reason}
create or replace function pause_cron(
  the_space text, the_cron text, the_nonce text, the_until bigint, the_by text, the_reason text
) returns json
language plpgsql
set search_path from current set enable_seqscan = off
as $$
declare
  this cron := lock_cron(the_space, the_cron);
  at_now constant bigint := now_ms();
begin
  if this.pause_nonce is distinct from the_nonce then
    update cron set
      pause_nonce = the_nonce,
      -- Changed while in force it is still one pause: no instant since then has run.
      paused_since = case when this.paused_until > at_now then paused_since else at_now end,
      paused_until = coalesce(the_until, 9223372036854775807), paused_by = the_by, paused_reason = the_reason
    where space = the_space and name = the_cron
    returning * into this;
  end if;
  return describe_pause(this, this.paused_until);
end $$;
