-- Lists the tenants of a deployment that have crons.
--
-- the_prefix  of the deployment
-- Returns  their names
create or replace function list_tenants(the_prefix text) returns json
language sql stable
set search_path from current
as $$
  select coalesce(json_agg(substr(space, length(the_prefix) + 2) order by space), '[]') from catalog_state
  where starts_with(space, the_prefix || ':') and version > 0
$$;
