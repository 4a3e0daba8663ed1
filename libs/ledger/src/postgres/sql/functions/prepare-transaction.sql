-- Says, without a lock, whether the current attempt may run an effect as a transaction; or returns the effect's record.
--
-- the_space  deployment and tenant
-- proof  {cron, runId, fence, nonce}
-- the_name  name of the effect
-- Returns  {verdict: go, session, since} | {verdict: done, result, payloadHash} | {verdict: stale}; session and
--          since: by which the server knows the transaction that begins in the same message
--
-- The row that says it was allowed to begin is what settle_transaction looks for, and what a successor writes again. Every
-- transaction of one message starts at the time of the message.
create or replace function prepare_transaction(the_space text, proof jsonb, the_name text) returns jsonb
language plpgsql set search_path from current set enable_seqscan = off
as $$
declare
  this run;
  known effect;
begin
  select * into this from run where space = the_space and id = proof ->> 'runId';
  if not check_attempt(this, proof) or this.lease_until <= now_ms() then
    perform refuse_attempt(the_space, proof ->> 'cron');
    return '{"verdict": "stale"}';
  end if;
  select * into known from effect where space = the_space and run_id = this.id and name = the_name;
  if known.state = 'done' then
    return jsonb_build_object('verdict', 'done', 'result', known.result, 'payloadHash', known.payload_hash);
  end if;
  insert into effect_begun (space, run_id, name, fence, nonce)
  values (the_space, this.id, the_name, this.fence, this.nonce) on conflict do nothing;
  return jsonb_build_object('verdict', 'go', 'session', pg_backend_pid(), 'since', statement_timestamp());
end
$$;
