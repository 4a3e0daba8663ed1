-- Says why a claim can't be accepted.
--
-- this  the cron, locked
-- claim  as claim_occurrences gets it
-- the_now  epoch ms
-- the_tolerance  for clocks that differ, ms
-- Returns  the reply, or null when nothing speaks against it
create or replace function refuse_claim(this cron, claim jsonb, the_now bigint, the_tolerance bigint) returns json
language plpgsql
set search_path from current
as $$
declare
  asked_by constant bigint := claim->>'fence';
  planned_from constant bigint := claim->>'cursor';
  due constant bigint := claim->>'dueAt';
  earlier json;
begin
  if asked_by < this.fence or (asked_by = this.fence and this.term is distinct from claim->>'term') then
    earlier := recall_claim(this, claim);
    if earlier is not null then return earlier; end if;
    update cron set refusals = refusals + 1 where space = this.space and name = this.name;
    return json_build_object('verdict', 'stale', 'fence', this.fence::text);
  end if;
  if (claim->>'generation')::bigint < this.generation then
    return coalesce(recall_claim(this, claim),
      json_build_object('verdict', 'stale-definition', 'generation', this.generation));
  end if;
  if this.cursor is distinct from planned_from or (claim->>'instant')::bigint <= this.cursor then
    return coalesce(recall_claim(this, claim), json_build_object('verdict', 'moved', 'cursor', this.cursor));
  end if;
  -- Ranges too: otherwise a pod whose clock is ahead would write off future instants.
  if due > the_now + the_tolerance then return json_build_object('verdict', 'early', 'waitMs', due - the_now); end if;
  return null;
end $$;
