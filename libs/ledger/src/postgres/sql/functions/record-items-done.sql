-- Records that items of a run are done, in the transaction that did them.
--
-- this  the run, executed by the current attempt
-- the_name  the name they are recorded under
-- keys  a list of their keys
-- Returns  whether none of them was done before; else the transaction must not commit
create or replace function record_items_done(this run, the_name text, keys jsonb) returns boolean
language plpgsql set search_path from current
as $$
declare
  recorded bigint;
begin
  insert into item as i (space, run_id, effect, key, state, since, fence)
  select this.space, this.id, the_name, key, 'done', now_ms(), this.fence
  from jsonb_array_elements_text(keys) with ordinality list (key, place) order by place
  on conflict (space, run_id, effect, key) do update
  set state = 'done', since = excluded.since, fence = excluded.fence, error = null
  where i.state <> 'done';
  get diagnostics recorded = row_count;
  return recorded = jsonb_array_length(keys);
end
$$;
