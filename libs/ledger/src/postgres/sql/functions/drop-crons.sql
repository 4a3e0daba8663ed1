-- Removes crons of an app whose definition in force is of a revision without a live pod.
--
-- the_space  whose catalog it is
-- the_by  {app, gone, formersGone, keep, who, nonce, effectiveAfter, kept}: the app that removes, what is_gone takes, how long a
--         tombstone is kept, ms, and the nonce of this call, or empty
-- the_names  of crons
-- Returns  {removed, changed}: the names of those that were removed, now or when this call was sent before, in the order given,
--          and whether readers have anything new to read
--
-- A cron that a live revision has declared meanwhile is left alone: its record names that revision.
create or replace function drop_crons(the_space text, the_by jsonb, the_names text[]) returns json
language plpgsql
set search_path from current
as $$
declare
  this catalog_state := lock_catalog(the_space);
  at_now constant bigint := now_ms();
  undeclared constant text[] := array(
    select name from catalog_cron
    where space = the_space and name = any(the_names) and standing = 'live'
      and owns_cron(source, seq, the_by->>'app') and is_gone(source, seq, the_by)
    order by name
  );
  before constant text[] := array(
    select cron from catalog_generation
    where space = the_space and cron = any(the_names) and nonce = nullif(the_by->>'nonce', '') and state = 'removed'
  );
  one text;
begin
  foreach one in array undeclared loop
    perform begin_generation(the_space, one, the_by || '{"state": "removed"}', at_now);
  end loop;
  update catalog_cron set standing = 'dropped', delete_at = at_now + (the_by->>'keep')::bigint
  where space = the_space and name = any(undeclared);
  if cardinality(undeclared) > 0 then perform advance_catalog(the_space, at_now, undeclared); end if;
  return json_build_object('changed', cardinality(undeclared) > 0, 'removed', array(
    select name from unnest(the_names) with ordinality as asked_for (name, place)
    where name = any(undeclared || before) group by name order by min(place)
  ));
end $$;
