-- Writes how one item of a run ended, unless it is done.
--
-- this  the run
-- the_effect  the name it is recorded under
-- the_key  its key
-- outcome  {kind: done} | {kind: failed, error}
-- Returns  nothing
create or replace function record_item(this run, the_effect text, the_key text, outcome jsonb) returns void
language plpgsql set search_path from current
as $$
begin
  insert into item as i (space, run_id, effect, key, state, since, fence, error)
  values (this.space, this.id, the_effect, the_key, outcome ->> 'kind', now_ms(), coalesce(this.fence, 0),
    case when outcome ->> 'kind' = 'failed' then outcome ->> 'error' end)
  on conflict (space, run_id, effect, key) do update set state = excluded.state, error = excluded.error
  where i.state <> 'done';
end
$$;
