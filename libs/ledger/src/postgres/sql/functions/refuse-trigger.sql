-- Says why a triggered run can't be accepted.
--
-- this  the cron, locked
-- request  as trigger_run gets it
-- Returns  the reply, or null when nothing speaks against it
--
-- An instant behind the cursor may be run when it is known not to have run: it lies in a skipped range, or before the first
-- that was ever accounted for; without one, before there was the cron. It is remembered for good, because both outlive the run's
-- record.
create or replace function refuse_trigger(this cron, request jsonb) returns json
language plpgsql
set search_path from current
as $$
declare
  instant_asked constant bigint := request->>'scheduledAt';
  cron_since constant bigint := request->>'cronSince';
  known boolean;
begin
  if instant_asked is null then return null; end if;
  if instant_asked > coalesce(this.cursor, cron_since, -1) then return json_build_object('verdict', 'ahead'); end if;
  if not (request->>'natural')::boolean then return null; end if;
  -- No two ranges share an instant, so the one it lies in is the first that ends there or later.
  known := instant_asked <= coalesce(this.began, cron_since, 0) or instant_asked > (
    select after from skip where space = this.space and cron = this.name and through >= instant_asked
    order by through, after limit 1
  );
  if known is not true
    or exists (select from asked where space = this.space and cron = this.name and instant = instant_asked)
  then
    return json_build_object('verdict', 'forgotten');
  end if;
  return null;
end $$;
