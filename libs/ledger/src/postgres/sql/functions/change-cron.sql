-- Makes, changes or removes one cron at run time, unless another change came first.
--
-- the_space  whose catalog it is
-- the_cron  its name
-- the_expected  the generation that is to be replaced; null for a cron that does not exist
-- the_change  {nonce, state, hash, definition, who, keep, effectiveAfter, kept}; without a definition where it is removed
-- Returns  {verdict: accepted, generation, since} | {verdict: moved, generation}, the generation null for no such cron
create or replace function change_cron(the_space text, the_cron text, the_expected bigint, the_change jsonb) returns json
language plpgsql
set search_path from current
as $$
declare
  this catalog_state := lock_catalog(the_space);
  at_now constant bigint := now_ms();
  removes constant boolean := the_change->>'state' = 'removed';
  newest catalog_generation;
  known catalog_cron;
  present bigint;
begin
  -- Sent again after a lost reply: the change that came first is this one.
  select * into newest from catalog_generation
  where space = the_space and cron = the_cron and nonce = the_change->>'nonce' order by generation desc limit 1;
  if found then
    return json_build_object('verdict', 'accepted', 'generation', newest.generation, 'since', newest.since);
  end if;
  select * into newest from catalog_generation where space = the_space and cron = the_cron order by generation desc limit 1;
  -- No pod can have used an unreadable generation. It leaves no tombstone: code that declares the cron brings it back.
  if removes and the_expected is null and newest.generation is not null and not check_definition(the_cron, newest) then
    delete from catalog_generation where space = the_space and cron = the_cron;
    delete from catalog_cron where space = the_space and name = the_cron;
    perform advance_catalog(the_space, at_now);
    return json_build_object('verdict', 'accepted', 'generation', newest.generation, 'since', at_now);
  end if;
  if newest.state <> 'removed' then present := newest.generation; end if;
  if present is distinct from the_expected or (removes and present is null) then
    return json_build_object('verdict', 'moved', 'generation', present);
  end if;

  newest := begin_generation(the_space, the_cron, the_change, at_now);
  select * into known from catalog_cron where space = the_space and name = the_cron;
  -- A cron that the code left out and an operator brought back belongs to the operator: the next build must not remove it.
  if not found or known.standing = 'dropped' or (known.standing = 'removed' and known.seq < coalesce((
    select seq from catalog_build where space = the_space and source = known.source
  ), 0)) then
    known.seq := 0;
    known.source := '';
  end if;
  -- What the code declares keeps the hash of its declaration: that is what its next declaration is compared with.
  if known.source = '' and not removes then known.hash := the_change->>'hash'; end if;
  insert into catalog_cron (space, name, seq, hash, source, standing, delete_at)
  values (
    the_space, the_cron, known.seq, coalesce(known.hash, '0'), known.source,
    case when removes then 'removed' else 'live' end,
    case when removes then at_now + (the_change->>'keep')::bigint end
  )
  on conflict (space, name) do update
  set seq = excluded.seq, hash = excluded.hash, source = excluded.source, standing = excluded.standing,
    delete_at = excluded.delete_at;
  perform drop_tombstones(the_space, at_now);
  perform advance_catalog(the_space, at_now);
  return json_build_object('verdict', 'accepted', 'generation', newest.generation, 'since', newest.since);
end $$;
