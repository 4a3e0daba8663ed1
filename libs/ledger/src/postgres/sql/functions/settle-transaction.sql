-- Records an effect as done in the transaction of the user's own rows. The commit is the next statement of the same message.
--
-- the_space  deployment and tenant
-- proof  {cron, runId, fence, nonce}
-- the_name  name of the effect
-- outcome  {result, payloadHash} of an effect | {items}: the keys of items that are done
-- mark  what the transaction was marked with when it began
-- Returns  nothing. Raises FP001 where it must not commit, with the reason as its detail: {verdict: stale}
--            | {verdict: done, result, payloadHash} | {verdict: broken}, when it isn't the transaction that was begun
--
-- What it locks lets no successor begin before the transaction has ended. Above READ COMMITTED the run looks as it did when
-- the transaction began, its lease too, and a lock on its row would fail after every heartbeat. There the row that a
-- successor writes again is locked: that fails if, and only if, there is one.
--
-- Without the row that says it was allowed to begin, its client has already been told that it did not happen.
create or replace function settle_transaction(
  the_space text, proof jsonb, the_name text, outcome jsonb, mark text
) returns void
language plpgsql set search_path from current set enable_seqscan = off
as $$
declare
  committed_only constant boolean := current_setting('transaction_isolation') in ('read committed', 'read uncommitted');
  this run;
  known effect;
  allowed boolean;
  refusal jsonb;
begin
  if current_setting('fencepost.mark', true) is distinct from mark then
    refusal := '{"verdict": "broken"}';
  else
    if committed_only then
      select * into this from run where space = the_space and id = proof ->> 'runId' for update;
      perform from effect_begun where space = the_space and run_id = proof ->> 'runId' and name = the_name
        and fence = (proof ->> 'fence')::bigint;
      allowed := found and this.lease_until > now_ms();
    else
      perform from effect_begun where space = the_space and run_id = proof ->> 'runId' and name = the_name
        and fence = (proof ->> 'fence')::bigint for update;
      allowed := found;
      select * into this from run where space = the_space and id = proof ->> 'runId';
    end if;
    if allowed and check_attempt(this, proof) and outcome ? 'items' then
      if record_items_done(this, the_name, outcome -> 'items') then return; end if;
      refusal := '{"verdict": "stale"}';
    elsif allowed and check_attempt(this, proof) then
      insert into effect as e (space, run_id, name, state, since, finished_at, fence, result, payload_hash)
      values (the_space, this.id, the_name, 'done', now_ms(), now_ms(), this.fence, outcome ->> 'result',
        outcome ->> 'payloadHash')
      on conflict (space, run_id, name) do update set state = 'done', finished_at = excluded.finished_at,
        fence = excluded.fence, result = excluded.result, payload_hash = excluded.payload_hash, error = null
      where e.state <> 'done';
      if found then return; end if;
      select * into known from effect where space = the_space and run_id = this.id and name = the_name;
      refusal := jsonb_build_object('verdict', 'done', 'result', known.result, 'payloadHash', known.payload_hash);
    else
      refusal := '{"verdict": "stale"}';
    end if;
  end if;
  raise exception 'The transaction "%" must not commit.', the_name using errcode = 'FP001', detail = refusal::text;
end
$$;
