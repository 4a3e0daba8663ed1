-- Puts definitions of one revision of an app in force, each unless another one decides. See drop-crons.sql for removals.
--
-- the_space  whose catalog it is
-- the_by  what judge_declarations takes, and {who, nonce, effectiveAfter, kept}; who: the author for each word that begins a
--         generation; nonce: of this call, or empty
-- the_declarations  a list of {name, hash, state, definition}
-- Returns  {words, changed}: what judge_declaration returns for each declaration in order, or returned when this call was sent before,
--          and whether readers have anything new to read
create or replace function declare_crons(the_space text, the_by jsonb, the_declarations jsonb) returns json
language plpgsql
set search_path from current
as $$
declare
  this catalog_state := lock_catalog(the_space);
  at_now constant bigint := now_ms();
  the_app constant text := the_by->>'app';
  the_order constant bigint := the_by->>'order';
  keep constant bigint := the_by->>'keep';
  judged constant json := judge_declarations(the_space, the_by, the_declarations);
  words constant text[] := array(select json_array_elements_text(judged->'words'));
  answers constant text[] := recall_words(the_space, the_by->>'nonce', the_declarations, words);
  one jsonb;
  word text;
  changed text[] := '{}';
begin
  for one, word in
    select declared.one, words[place] from jsonb_array_elements(the_declarations) with ordinality as declared (one, place)
    where the_by->'who' ? words[place] order by place
  loop
    perform begin_generation(
      the_space, one->>'name',
      the_by || one || jsonb_build_object('nonce', sign_word(the_by->>'nonce', word), 'who', the_by->'who'->word), at_now
    );
    insert into catalog_cron (space, name, seq, hash, source)
    values (the_space, one->>'name', the_order, one->>'hash', the_app)
    on conflict (space, name) do update
    set seq = excluded.seq, hash = excluded.hash, source = excluded.source, standing = 'live', delete_at = null;
    changed := changed || (one->>'name');
  end loop;
  update catalog_cron set seq = the_order, hash = case when starts_with(hash, declared.one->>'hash') then hash else declared.one->>'hash' end, source = the_app
  from jsonb_array_elements(the_declarations) with ordinality as declared (one, place)
  where space = the_space and name = declared.one->>'name' and words[place] = 'noted';
  -- An hour more than a tombstone is kept: until then the next declarations have nothing to write.
  update catalog_cron set delete_at = at_now + keep + keep / 24
  from jsonb_array_elements(the_declarations) as declared (one)
  where space = the_space and name = declared.one->>'name' and standing <> 'live';
  changed := changed || drop_tombstones(the_space, at_now);
  if cardinality(changed) > 0 then perform advance_catalog(the_space, at_now, changed); end if;
  return json_build_object('words', answers, 'changed', cardinality(changed) > 0);
end $$;
