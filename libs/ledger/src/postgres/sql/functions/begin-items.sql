-- Records items of a run that are about to begin; one that is done, or was begun and never ended, stays as it is.
--
-- this  the run, executed by the current attempt
-- the_effect  the name they are recorded under
-- begun  their keys
-- at  now, epoch milliseconds
-- Returns  nothing
create or replace function begin_items(this run, the_effect text, begun text[], at bigint) returns void
language plpgsql set search_path from current
as $$
begin
  insert into effect_begun (space, run_id, name, fence, nonce)
  values (this.space, this.id, the_effect, this.fence, this.nonce) on conflict do nothing;
  insert into item as i (space, run_id, effect, key, state, since, fence)
  select this.space, this.id, the_effect, keys.key, 'begun', at, this.fence
  from (select key, min(place) as place from unnest(begun) with ordinality list (key, place) group by key) keys
  order by keys.place
  on conflict (space, run_id, effect, key) do update
  set state = 'begun', since = at, fence = excluded.fence, error = null
  where i.state = 'failed';
end
$$;
