-- Reads how far the catalog of a space is.
--
-- the_space  whose catalog it is
-- Returns  {version, now}, epoch ms
create or replace function read_version(the_space text) returns json
language plpgsql
set search_path from current
as $$
declare
  at_now bigint;
begin
  perform share_catalog(the_space);
  at_now := now_ms();
  return json_build_object(
    'version', coalesce((select version from catalog_state where space = the_space), 0), 'now', at_now
  );
end $$;
