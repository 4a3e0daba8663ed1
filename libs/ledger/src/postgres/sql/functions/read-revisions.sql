-- Reads the revisions of an app.
--
-- the_space  whose catalog it is
-- the_app  whose revisions they are
-- Returns  {record, now}: the record, null for none, and the server's clock, epoch ms
create or replace function read_revisions(the_space text, the_app text) returns json
language sql volatile
set search_path from current
as $$
  select json_build_object(
    'record', (select record from catalog_revision where space = the_space and app = the_app), 'now', now_ms()
  )
$$;
