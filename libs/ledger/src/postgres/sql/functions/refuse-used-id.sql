-- Says whether a run can't be made because its id was used and its record is gone.
--
-- the_space  deployment and tenant
-- at  now, epoch ms
-- request  as trigger_run gets it
-- Returns  true | false
--
-- A request that arrives more than lateMs after its id was made is a duplicate or was delayed: no id is remembered for longer.
-- A re-run continues another run, which must still be on record.
create or replace function is_used_id(the_space text, at bigint, request jsonb) returns boolean
language sql stable set search_path from current
as $$
  select coalesce(at - (request->>'madeAt')::bigint > (request->>'lateMs')::bigint, false)
    or exists (select from used_id where space = the_space and run_id = request->>'runId' and until > at)
    or request->>'rerunOf' is not null
      and not exists (select from run where space = the_space and id = request->>'rerunOf')
$$;
