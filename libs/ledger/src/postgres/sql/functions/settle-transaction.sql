-- Records an effect as done in the transaction of the user's own rows, which is about to commit.
--
-- the_space  deployment and tenant
-- proof  {cron, runId, fence, nonce}
-- the_name  name of the effect
-- outcome  {result, payloadHash}
-- mark  what the transaction was marked with when it began
-- Returns  {verdict: go, session, transaction} | {verdict: done, result, payloadHash} | {verdict: stale}
--            | {verdict: broken}, when it isn't the transaction that was begun
--
-- What it locks lets no successor begin before the transaction has ended. Above READ COMMITTED the run looks as it did when
-- the transaction began, its lease too, and a lock on its row would fail after every heartbeat. There the row that a
-- successor writes again is locked: that fails if, and only if, there is one.
--
-- The commit follows at once. If its pod has vanished, the connection could stay open for hours and keep the run from
-- beginning: the server ends a session that stays silent for longer than that.
create or replace function settle_transaction(
  the_space text, proof jsonb, the_name text, outcome jsonb, mark text
) returns jsonb
language plpgsql set search_path from current set enable_seqscan = off
as $$
declare
  committed_only constant boolean := current_setting('transaction_isolation') in ('read committed', 'read uncommitted');
  this run;
  known effect;
begin
  if current_setting('fencepost.mark', true) is distinct from mark then return '{"verdict": "broken"}'; end if;
  perform set_config('idle_in_transaction_session_timeout', '5s', true);
  if committed_only then
    perform 1 from run where space = the_space and id = proof ->> 'runId' for update;
  else
    perform 1 from effect_begun where space = the_space and run_id = proof ->> 'runId' and name = the_name
      and fence = (proof ->> 'fence')::bigint for update;
  end if;
  select * into this from run where space = the_space and id = proof ->> 'runId';
  if not check_attempt(this, proof) or (committed_only and this.lease_until <= now_ms()) then
    return '{"verdict": "stale"}';
  end if;
  insert into effect as e (space, run_id, name, state, since, finished_at, fence, result, payload_hash)
  values (the_space, this.id, the_name, 'done', now_ms(), now_ms(), this.fence, outcome ->> 'result',
    outcome ->> 'payloadHash')
  on conflict (space, run_id, name) do update set state = 'done', finished_at = excluded.finished_at,
    fence = excluded.fence, result = excluded.result, payload_hash = excluded.payload_hash, error = null
  where e.state <> 'done';
  if found then
    return jsonb_build_object('verdict', 'go', 'session', pg_backend_pid(), 'transaction', pg_current_xact_id()::text);
  end if;
  select * into known from effect where space = the_space and run_id = this.id and name = the_name;
  return jsonb_build_object('verdict', 'done', 'result', known.result, 'payloadHash', known.payload_hash);
end
$$;
