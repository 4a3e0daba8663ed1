-- Declares crons of one build, all or none, and removes what the build left out when these are the last of them.
--
-- the_space  whose catalog it is
-- the_build  {source, seq, last, who, effectiveAfter, kept, keep}; last: whether no declarations of this call follow in
--            another one; keep: how long a tombstone is kept, ms
-- the_declarations  a list of {name, hash, state, definition}
-- Returns  {words, removed, changed, conflict}: a word a declaration in order; the conflict is {name, source} of the first, or null,
--          and nothing was changed then
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
  top constant bigint := coalesce((select seq from catalog_build where space = the_space and source = the_source), -1);
  judged json := judge_declarations(the_space, the_source, the_seq, keep, the_declarations);
  one jsonb;
  word text;
  place integer := 0;
  changed boolean := false;
  removed text[] := '{}';
  left_out text;
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
      changed := true;
    else
      update catalog_cron set
        seq = case word when 'noted' then the_seq else seq end,
        source = case word when 'noted' then the_source else source end,
        -- An hour more than it is kept for: until then the next processes that declare it have nothing to write.
        delete_at = case when standing <> 'live' then at_now + keep + keep / 24 end
      where space = the_space and name = one->>'name' and (word = 'noted' or standing <> 'live');
    end if;
  end loop;

  -- Last of all, when everything that the build declares carries its number: what carries a lower one is left out.
  if (the_build->>'last')::boolean and the_seq > top then
    for left_out in
      select name from catalog_cron
      where space = the_space and source = the_source and standing = 'live' and seq < the_seq order by name
    loop
      perform begin_generation(the_space, left_out, the_build || '{"nonce": "", "state": "removed"}', at_now);
      removed := removed || left_out;
    end loop;
    update catalog_cron set standing = 'dropped', delete_at = at_now + keep where space = the_space and name = any(removed);
    insert into catalog_build (space, source, seq) values (the_space, the_source, the_seq)
    on conflict (space, source) do update set seq = excluded.seq;
  end if;
  changed := drop_tombstones(the_space, at_now) or changed or cardinality(removed) > 0;
  if changed then perform advance_catalog(the_space, at_now); end if;
  return json_build_object('words', judged->'words', 'removed', removed, 'conflict', null, 'changed', changed);
end $$;
