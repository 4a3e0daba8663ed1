-- Says whether anything would change if crons were declared. Writes nothing.
--
-- the_space  whose catalog it is
-- the_source  the program that declares them
-- the_seq  its build
-- the_keep  keep a tombstone for, ms
-- the_declarations  a list of {name, hash}
-- Returns  {writes, words, conflict}: a word a declaration in order, as judge_declaration has them; the conflict is
--          {name, source} of the first, or null
--
-- Repeating a known declaration is by far the most frequent call, so it takes no lock.
create or replace function judge_declarations(
  the_space text, the_source text, the_seq bigint, the_keep bigint, the_declarations jsonb
) returns json
language sql volatile
set search_path from current
as $$
  with build as (
    select coalesce((select seq from catalog_build where space = the_space and source = the_source), -1) as top
  ), judged as (
    select place, one->>'name' as name, known.source, known.standing, known.delete_at,
      judge_declaration(known, one->>'hash', the_source, the_seq, top) as word
    from build cross join jsonb_array_elements(the_declarations) with ordinality as asked_for (one, place)
    left join catalog_cron as known on known.space = the_space and known.name = one->>'name'
  )
  select json_build_object(
    'words', (select json_agg(word order by place) from judged),
    'conflict', (
      select json_build_object('name', name, 'source', source) from judged where word = 'conflict' order by place limit 1
    ),
    'writes', the_seq > (select top from build)
      or exists (select from judged where word in ('changed', 'noted'))
      -- Processes declare every few seconds; that one did is written once an hour.
      or exists (select from judged where standing <> 'live' and delete_at < now_ms() + the_keep)
      or exists (select from catalog_cron where space = the_space and delete_at < now_ms())
  )
$$;
