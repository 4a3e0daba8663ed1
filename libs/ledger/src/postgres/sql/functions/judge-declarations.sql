-- Says whether anything would change if crons were declared. Writes nothing.
--
-- the_space  whose catalog it is
-- the_by  {app, order, gone, formersGone, keep}: the declaring app, the order of its revision, what is_gone takes, and how long a
--         tombstone is kept, ms
-- the_declarations  a list of {name, hash}
-- Returns  {writes, words}: what judge_declaration returns for each declaration in order
--
-- Repeating a known declaration is by far the most frequent call, so it takes no lock.
create or replace function judge_declarations(the_space text, the_by jsonb, the_declarations jsonb) returns json
language sql volatile
set search_path from current
as $$
  with declaring as materialized (
    select the_by->>'app' as app, (the_by->>'order')::bigint as seq, (the_by->>'keep')::bigint as keep
  ), compared as materialized (
    select place, known,
      -- The hash of a cron's texts follows that of the rest: the texts may be yet to come.
      known.hash = one->>'hash' or (declaring.seq <= known.seq and starts_with(known.hash, one->>'hash')) as same,
      is_gone(known.source, known.seq, the_by) as gone
    from declaring cross join jsonb_array_elements(the_declarations) with ordinality as asked_for (one, place)
    left join catalog_cron as known on known.space = the_space and known.name = one->>'name'
  ), judged as materialized (
    select place, (known).standing, (known).delete_at, judge_declaration(known, same, gone, app, seq) as word
    from compared cross join declaring
  )
  select json_build_object(
    'words', (select json_agg(word order by place) from judged),
    'writes', exists (
        select from judged where word in ('created', 'changed', 'reverted', 'restored', 'taken', 'noted')
      )
      -- Processes declare every few seconds; the time of the last declaration is written once an hour.
      or exists (select from judged cross join declaring where standing <> 'live' and delete_at < now_ms() + keep)
      or exists (select from catalog_cron where space = the_space and delete_at < now_ms())
  )
$$;
