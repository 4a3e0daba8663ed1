-- Lists crons of an app whose definition in force is of a revision without a live pod, by name, a page at a time.
--
-- the_space  whose catalog it is
-- the_by  {app, gone, formersGone}: the app that asks, and what is_gone takes
-- the_after  where the page before ended; null for the first
-- the_limit  at most how many crons
-- Returns  {crons, next}: their names, and where this page ended, null for the last
--
-- Checks each revision once rather than each cron: a hundred thousand crons share a few revisions.
create or replace function list_undeclared(the_space text, the_by jsonb, the_after text, the_limit bigint) returns json
language plpgsql
set search_path from current
as $$
declare
  the_app constant text := the_by->>'app';
  in_force constant bigint[] := array(
    select distinct seq from catalog_cron
    where space = the_space and standing = 'live' and owns_cron(source, seq, the_app)
  );
  gone constant bigint[] := array(select seq from unnest(in_force) as seq where is_gone(the_app, seq, the_by));
  names text[] := '{}';
begin
  if cardinality(gone) > 0 then
    names := array(
      select name from catalog_cron
      where space = the_space and name > coalesce(the_after, '') and standing = 'live' and seq = any(gone)
        and owns_cron(source, seq, the_app)
      order by name limit the_limit
    );
  end if;
  return json_build_object(
    'crons', names, 'next', case when cardinality(names) = the_limit then names[the_limit] end
  );
end $$;
