-- Allows the current attempt to carry out an effect, or returns its record.
--
-- the_space  deployment and tenant
-- proof  {cron, runId, fence, nonce}
-- the_name  name of the effect
-- if_unknown  go | tell: what to do where an earlier attempt began it and never said how it ended
-- the_hash  hash of the payload, or null
-- Returns  {verdict: go, unknown} | {verdict: unknown, unknown} | {verdict: done, result, payloadHash} | {verdict: stale};
--             unknown: {since, ageMs, payloadHash} or null
--
-- The fence that began it first is kept until it ends: a later attempt that finds it knows that the outcome is unknown, and
-- gets the same answer when it repeats the call after a lost reply.
create or replace function begin_effect(the_space text, proof jsonb, the_name text, if_unknown text, the_hash text)
returns jsonb
language plpgsql set search_path from current set enable_seqscan = off
as $$
declare
  this run;
  known effect;
  at bigint;
  unknown_effect jsonb;
begin
  perform lock_cron(the_space, proof ->> 'cron');
  at := now_ms();
  select * into this from run where space = the_space and id = proof ->> 'runId';
  if not check_attempt(this, proof) or this.lease_until <= at then
    perform refuse_attempt(the_space, proof ->> 'cron');
    return '{"verdict": "stale"}';
  end if;
  select * into known from effect where space = the_space and run_id = this.id and name = the_name;
  if known.state = 'done' then
    return jsonb_build_object('verdict', 'done', 'result', known.result, 'payloadHash', known.payload_hash);
  end if;
  if known.state = 'begun' and known.fence <> this.fence then
    unknown_effect := jsonb_build_object('since', known.since, 'ageMs', greatest(at - known.since, 0),
      'payloadHash', known.payload_hash);
    if if_unknown = 'tell' or known.payload_hash <> the_hash then
      return jsonb_build_object('verdict', 'unknown', 'unknown', unknown_effect);
    end if;
  end if;
  insert into effect as e (space, run_id, name, state, since, fence, payload_hash)
  values (the_space, this.id, the_name, 'begun', at, this.fence, the_hash)
  on conflict (space, run_id, name) do update set state = 'begun', since = at, fence = excluded.fence,
    payload_hash = excluded.payload_hash, error = null, finished_at = null
  where e.state = 'failed';
  insert into effect_begun (space, run_id, name, fence, nonce)
  values (the_space, this.id, the_name, this.fence, this.nonce) on conflict do nothing;
  return jsonb_build_object('verdict', 'go', 'unknown', unknown_effect);
end
$$;
