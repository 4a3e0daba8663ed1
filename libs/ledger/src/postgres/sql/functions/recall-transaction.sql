-- Says what became of a transaction whose connection was lost at its commit, and keeps it from happening afterwards.
--
-- the_space  deployment and tenant
-- proof  {cron, runId, fence, nonce}
-- the_name  name of the effect
-- keys  of its items; null: it is one effect
-- session  whose transaction it was, as prepare_transaction said
-- since  when the transaction began, as prepare_transaction said
-- Returns  {verdict: done, result, payloadHash} | {verdict: gone}
--
-- One that is committing holds a lock that is awaited. One that has not arrived may still do so: it finds the row gone that
-- allowed it to begin. Its session may not know yet that its client is gone and would keep the rows of the user locked: it
-- is ended. A later transaction of the same session began at another time.
create or replace function recall_transaction(
  the_space text, proof jsonb, the_name text, keys text[], session bigint, since timestamptz
) returns jsonb
language plpgsql set search_path from current set lock_timeout = '5s'
as $$
declare
  known effect;
begin
  perform from run where space = the_space and id = proof ->> 'runId' for update;
  perform from effect_begun where space = the_space and run_id = proof ->> 'runId' and name = the_name for update;
  if keys is not null then
    perform from unnest(keys) asked (key) where not exists (
      select from item where space = the_space and run_id = proof ->> 'runId' and effect = the_name and item.key = asked.key
        and state = 'done'
    );
    if not found then return '{"verdict": "done", "result": "null", "payloadHash": null}'; end if;
  end if;
  select * into known from effect
  where space = the_space and run_id = proof ->> 'runId' and name = the_name and state = 'done';
  if found then
    return jsonb_build_object('verdict', 'done', 'result', known.result, 'payloadHash', known.payload_hash);
  end if;
  delete from effect_begun where space = the_space and run_id = proof ->> 'runId' and name = the_name
    and fence = (proof ->> 'fence')::bigint;
  perform pg_terminate_backend(pid) from pg_stat_activity
  where pid = session and xact_start = since;
  return '{"verdict": "gone"}';
end
$$;
