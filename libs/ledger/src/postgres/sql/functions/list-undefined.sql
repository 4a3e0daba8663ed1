-- Lists the crons that the ledger knows, and of which the catalog has no definition, and never had one removed.
--
-- the_space  whose crons they are
-- the_most  how many names at most
-- Returns  {count, names}
create or replace function list_undefined(the_space text, the_most bigint) returns json
language sql stable
set search_path from current
as $$
  with missing as (
    select name from cron where space = the_space
    and not exists (select from catalog_cron as known where known.space = the_space and known.name = cron.name)
    and not exists (select from catalog_forgotten as gone where gone.space = the_space and gone.name = cron.name)
  )
  select json_build_object(
    'count', (select count(*) from missing),
    'names', coalesce((select json_agg(name) from (select name from missing order by name limit the_most) as first_ones), '[]')
  )
$$;
