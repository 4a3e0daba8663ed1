-- Writes the revisions of an app with one more set, unless another process has changed them meanwhile.
--
-- the_space  whose catalog it is
-- the_app  whose revisions they are
-- the_known  the record that was read, null for none
-- the_next  {record, order, names, forgotten}: the record to write, the order of the set, its names, a line each, and the orders
--           of the sets whose names are no longer kept
-- Returns  whether it was written
--
-- Raises the highest builds above every process of a former release, which then declares nothing and only executes: also those of
-- the programs of this app, which had the app and a path for their name. Such a process writes its own number there under the lock
-- of the catalog, so this takes the lock too.
create or replace function enrol_revision(the_space text, the_app text, the_known text, the_next jsonb) returns json
language plpgsql
set search_path from current
as $$
declare
  this catalog_state := lock_catalog(the_space);
begin
  if the_known is distinct from (select record from catalog_revision where space = the_space and app = the_app) then
    return to_json(false);
  end if;
  insert into catalog_revision (space, app, record) values (the_space, the_app, the_next->>'record')
  on conflict (space, app) do update set record = excluded.record;
  insert into catalog_revision_set (space, app, seq, names)
  values (the_space, the_app, (the_next->>'order')::bigint, the_next->>'names')
  on conflict (space, app, seq) do update set names = excluded.names;
  delete from catalog_revision_set
  where space = the_space and app = the_app
    and seq in (select forgotten::bigint from jsonb_array_elements_text(the_next->'forgotten') as forgotten);
  insert into catalog_build (space, source, seq) values (the_space, the_app, 0) on conflict (space, source) do nothing;
  update catalog_build set seq = greatest(now_ms(), seq + 1)
  where space = the_space and (source = the_app or starts_with(source, the_app || '/'));
  return to_json(true);
end $$;
