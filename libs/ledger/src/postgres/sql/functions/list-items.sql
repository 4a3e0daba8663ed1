-- Lists whatever is recorded of the items under one name, in the order they were begun.
--
-- the_space  deployment and tenant
-- the_run  its id
-- the_name  name of the forEach
-- Returns  a list of {key, state, error, since}
create or replace function list_items(the_space text, the_run text, the_name text) returns json
language plpgsql stable set search_path from current set enable_seqscan = off
as $$
begin
  return (
    select coalesce(json_agg(json_build_object('key', key, 'state', state, 'error', error, 'since', since) order by id), '[]')
    from item where space = the_space and run_id = the_run and effect = the_name
  );
end
$$;
