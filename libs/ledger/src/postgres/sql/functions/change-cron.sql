-- Makes, changes or removes one cron at run time, unless another change came first.
--
-- the_space  whose catalog it is, locked
-- the_change  {name, any, expected, nonce, state, hash, definition, who, keep, effectiveAfter, kept, max}; any: whatever is there
--             may be replaced, otherwise only the expected generation, null for a cron that does not exist; without a definition
--             where it is removed
-- the_now  epoch ms
-- the_room  how many new crons there may be; null: any number
-- Returns  {verdict: accepted, generation, since} | {verdict: moved | unchanged, generation} | {verdict: full, count}, the generation
--          null for no such cron, with how many crons there are more, and whether it was written
create or replace function change_cron(the_space text, the_change jsonb, the_now bigint, the_room bigint) returns jsonb
language plpgsql
set search_path from current
as $$
declare
  the_cron constant text := the_change->>'name';
  removes constant boolean := the_change->>'state' = 'removed';
  expects_any constant boolean := coalesce((the_change->>'any')::boolean, false);
  expected constant bigint := the_change->>'expected';
  newest catalog_generation;
  known catalog_cron;
  present bigint;
begin
  -- Sent again after a lost reply: the change that came first is this one.
  select * into newest from catalog_generation
  where space = the_space and cron = the_cron and nonce = the_change->>'nonce' order by generation desc limit 1;
  if found then
    return jsonb_build_object('verdict', 'accepted', 'generation', newest.generation, 'since', newest.since);
  end if;
  select * into newest from catalog_generation where space = the_space and cron = the_cron order by generation desc limit 1;
  -- No pod can have used an unreadable generation. It leaves no tombstone: code that declares the cron brings it back.
  if removes and expected is null and newest.generation is not null and not check_definition(the_cron, newest) then
    delete from catalog_generation where space = the_space and cron = the_cron;
    delete from catalog_cron where space = the_space and name = the_cron;
    return jsonb_build_object('verdict', 'accepted', 'generation', newest.generation, 'since', the_now, 'written', true, 'more', -1);
  end if;
  if newest.state <> 'removed' then present := newest.generation; end if;
  if expects_any and removes and present is null then
    return jsonb_build_object('verdict', 'unchanged', 'generation', null);
  end if;
  if not expects_any and (present is distinct from expected or (removes and present is null)) then
    return jsonb_build_object('verdict', 'moved', 'generation', present);
  end if;
  if expects_any and newest.state = the_change->>'state' and newest.definition = the_change->>'definition' then
    return jsonb_build_object('verdict', 'unchanged', 'generation', present);
  end if;
  if present is null and the_room <= 0 then
    return jsonb_build_object('verdict', 'full', 'count', (the_change->>'max')::bigint - the_room);
  end if;

  newest := begin_generation(the_space, the_cron, the_change, the_now);
  select * into known from catalog_cron where space = the_space and name = the_cron;
  -- A removed cron that an operator brings back is the operator's, until code declares it.
  if not found or known.standing <> 'live' then
    known.seq := 0;
    known.source := '';
  end if;
  -- What the code declares keeps the hash of its declaration: that is what its next declaration is compared with.
  if known.source = '' and not removes then known.hash := the_change->>'hash'; end if;
  insert into catalog_cron (space, name, seq, hash, source, standing, delete_at)
  values (
    the_space, the_cron, known.seq, coalesce(known.hash, '0'), known.source,
    -- A declared cron comes back when a pod declares it again.
    case when not removes then 'live' when known.source = '' then 'removed' else 'dropped' end,
    case when removes then the_now + (the_change->>'keep')::bigint end
  )
  on conflict (space, name) do update
  set seq = excluded.seq, hash = excluded.hash, source = excluded.source, standing = excluded.standing,
    delete_at = excluded.delete_at;
  return jsonb_build_object(
    'verdict', 'accepted', 'generation', newest.generation, 'since', newest.since, 'written', true,
    'more', case when removes then -1 when present is null then 1 else 0 end
  );
end $$;
