-- Shows what the last operator's answer changed in a run.
--
-- this  the run
-- Returns  {verdict: resolved, state, delivery, priority}; no delivery for a run that was given up
create or replace function describe_resolved(this run) returns jsonb
language plpgsql stable set search_path from current
as $$
declare
  delivered constant integer := nullif(split_part(this.resolve_nonce, ' ', 1), '');
begin
  return jsonb_build_object('verdict', 'resolved', 'delivery', delivered, 'priority', this.priority,
    'state', case when delivered is null then 'failed' else 'enqueued' end);
end
$$;
