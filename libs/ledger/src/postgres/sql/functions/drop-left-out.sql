-- Removes crons that a build of a program leaves out, at most 500, and notes after the last of them that it is the highest.
--
-- the_space  whose catalog it is
-- the_build  {source, seq, who, effectiveAfter, kept, keep}; keep: how long a tombstone is kept, ms
-- Returns  {removed, more}: their names, and whether there may be others
--
-- To be called when everything that the build declares carries its number: what carries a lower one is left out. A crash before the
-- last call leaves the build unnoted, so that its next declaration begins anew.
create or replace function drop_left_out(the_space text, the_build jsonb) returns json
language plpgsql
set search_path from current
as $$
declare
  this catalog_state := lock_catalog(the_space);
  at_now constant bigint := now_ms();
  the_source constant text := the_build->>'source';
  the_seq constant bigint := the_build->>'seq';
  removed text[];
  left_out text;
begin
  if exists (select from catalog_build where space = the_space and source = the_source and seq >= the_seq) then
    return json_build_object('removed', '{}'::text[], 'more', false);
  end if;
  removed := array(
    select name from catalog_cron
    where space = the_space and source = the_source and standing = 'live' and seq < the_seq order by name limit 500
  );
  foreach left_out in array removed loop
    perform begin_generation(the_space, left_out, the_build || '{"nonce": "", "state": "removed"}', at_now);
  end loop;
  update catalog_cron set standing = 'dropped', delete_at = at_now + (the_build->>'keep')::bigint
  where space = the_space and name = any(removed);
  if cardinality(removed) < 500 then
    insert into catalog_build (space, source, seq) values (the_space, the_source, the_seq)
    on conflict (space, source) do update set seq = excluded.seq;
  end if;
  if cardinality(removed) > 0 then perform advance_catalog(the_space, at_now, removed); end if;
  return json_build_object('removed', removed, 'more', cardinality(removed) = 500);
end $$;
