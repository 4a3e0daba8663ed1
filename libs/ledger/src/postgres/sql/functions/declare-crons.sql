-- Declares crons of one build, all or none. See drop-left-out.sql for those that the build leaves out.
--
-- the_space  whose catalog it is
-- the_build  {source, seq, who, effectiveAfter, kept, keep}; keep: how long a tombstone is kept, ms
-- the_declarations  a list of {name, hash, state, definition}
-- Returns  {words, changed, conflict}: a word a declaration in order; the conflict is {name, source} of the first, or null, and
--          nothing was changed then
--
-- A lower build defines nothing: an old pod that restarts must not take a deploy back.
create or replace function declare_crons(the_space text, the_build jsonb, the_declarations jsonb) returns json
language plpgsql
set search_path from current
as $$
declare
  this catalog_state := lock_catalog(the_space);
  at_now constant bigint := now_ms();
  the_source constant text := the_build->>'source';
  the_seq constant bigint := the_build->>'seq';
  keep constant bigint := the_build->>'keep';
  judged json := judge_declarations(the_space, the_source, the_seq, keep, the_declarations);
  one jsonb;
  word text;
  place integer := 0;
  changed text[] := '{}';
begin
  if json_typeof(judged->'conflict') <> 'null' then return judged; end if;
  for one in select * from jsonb_array_elements(the_declarations) loop
    word := judged->'words'->>place;
    place := place + 1;
    if word = 'changed' then
      perform begin_generation(the_space, one->>'name', the_build || '{"nonce": ""}' || one, at_now);
      insert into catalog_cron (space, name, seq, hash, source)
      values (the_space, one->>'name', the_seq, one->>'hash', the_source)
      on conflict (space, name) do update
      set seq = excluded.seq, hash = excluded.hash, source = excluded.source, standing = 'live', delete_at = null;
      changed := changed || (one->>'name');
    else
      update catalog_cron set
        seq = case word when 'noted' then the_seq else seq end,
        source = case word when 'noted' then the_source else source end,
        -- An hour more than it is kept for: until then the next processes that declare it have nothing to write.
        delete_at = case when standing <> 'live' then at_now + keep + keep / 24 end
      where space = the_space and name = one->>'name' and (word = 'noted' or standing <> 'live');
    end if;
  end loop;
  changed := changed || drop_tombstones(the_space, at_now);
  if cardinality(changed) > 0 then perform advance_catalog(the_space, at_now, changed); end if;
  return json_build_object('words', judged->'words', 'conflict', null, 'changed', cardinality(changed) > 0);
end $$;
