-- Answers a repeated trigger of a known run id.
--
-- earlier  the run of that id
-- the_nonce  of the call
-- Returns  the reply, or null when there is no such run
create or replace function recall_trigger(earlier run, the_nonce text) returns json
language sql immutable
as $$
  select case
    when earlier.id is null then null
    when earlier.claim_nonce <> the_nonce then json_build_object('verdict', 'exists', 'state', earlier.state)
    when earlier.skipped = 'overlap' then
      json_build_object('verdict', 'skipped', 'reason', coalesce(earlier.waiting, 'overlap'))
    else json_build_object('verdict', 'claimed', 'runId', earlier.id)
  end
$$;
