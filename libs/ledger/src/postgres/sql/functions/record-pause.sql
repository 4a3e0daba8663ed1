-- Records that the instants of a plan didn't run because the cron is paused: one range for the whole of a pause.
--
-- this  the cron, locked, as it was before the claim
-- claim  as claim_occurrences gets it
-- Returns  nothing
create or replace function record_pause(this cron, claim jsonb) returns void
language plpgsql
set search_path from current
as $$
declare
  -- The ranges of the plan have reasons of their own; the pause begins behind them.
  begins bigint := coalesce(claim->'skips'->-1->>'through', this.cursor::text, claim->>'began');
  ends constant bigint := claim->>'instant';
  latest skip;
begin
  if jsonb_array_length(claim->'skips') = 0 then
    select * into latest from skip where space = this.space and cron = this.name
    order by through desc, after desc limit 1;
    if latest.reason = 'paused' and latest.through = begins then
      delete from skip where space = this.space and cron = this.name and through = latest.through
        and after = latest.after and reason = 'paused';
      begins := latest.after;
    end if;
  end if;
  insert into skip (space, cron, after, through, reason) values (this.space, this.name, begins, ends, 'paused')
  on conflict do nothing;
end $$;
