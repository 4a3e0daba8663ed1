-- Writes how an effect ended, unless it is done.
--
-- this  the run
-- the_name  name of the effect
-- outcome  {kind: done, result, fence} | {kind: failed, error, fence}; without a fence it is an operator's answer
-- Returns  nothing
--
-- An effect that an operator ended keeps the fence of the attempt that began it, negated: it belongs to no attempt. One that
-- no attempt began has fence 0.
create or replace function record_effect(this run, the_name text, outcome jsonb) returns void
language plpgsql set search_path from current
as $$
declare
  at bigint := now_ms();
begin
  insert into effect as e (space, run_id, name, state, since, finished_at, fence, result, error)
  values (this.space, this.id, the_name, outcome ->> 'kind', at, at,
    coalesce((outcome ->> 'fence')::bigint, 0), outcome ->> 'result', outcome ->> 'error')
  on conflict (space, run_id, name) do update set state = excluded.state, finished_at = at, result = excluded.result,
    error = excluded.error, fence = coalesce((outcome ->> 'fence')::bigint, -abs(e.fence))
  where e.state <> 'done';
end
$$;
