-- Says how a claim was decided when it came before, so that one whose reply got lost is answered as it was.
--
-- this  the cron, locked
-- claim  as claim_occurrences gets it
-- Returns  the reply, or null when this is the first time
--
-- Only a refused claim can be a repeated one: an accepted claim moves the cursor, and a plan starts at the cursor.
create or replace function recall_claim(this cron, claim jsonb) returns json
language plpgsql
set search_path from current
as $$
declare
  earlier run;
begin
  if this.record_nonce = claim->>'nonce' then
    if this.record_paused then return json_build_object('verdict', 'skipped', 'reason', 'paused'); end if;
    return json_build_object('verdict', 'recorded');
  end if;
  select * into earlier from run where space = this.space and id = claim->>'runId' and claim_nonce = claim->>'nonce';
  if not found then return null; end if;
  if earlier.skipped = 'overlap' then
    return json_build_object('verdict', 'skipped', 'reason', coalesce(earlier.waiting, 'overlap'));
  end if;
  return json_build_object('verdict', 'claimed', 'runId', earlier.id);
end $$;
