-- Deletes the crons that were removed, and that no process has declared, for longer than a tombstone is kept.
--
-- the_space  whose catalog it is, locked
-- the_now  epoch ms
-- Returns  their names
--
-- At most 250 at once: the next change deletes the rest.
create or replace function drop_tombstones(the_space text, the_now bigint) returns text[]
language plpgsql
set search_path from current
as $$
declare
  over text[];
begin
  over := array(
    select name from catalog_cron where space = the_space and delete_at < the_now order by delete_at limit 250
  );
  if cardinality(over) > 0 then
    delete from catalog_cron where space = the_space and name = any(over);
    delete from catalog_generation where space = the_space and cron = any(over);
    insert into catalog_forgotten (space, name) select the_space, unnest(over) on conflict do nothing;
  end if;
  return over;
end $$;
