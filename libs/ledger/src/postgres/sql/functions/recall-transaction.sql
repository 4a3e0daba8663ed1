-- Says what became of a transaction whose connection was lost at its commit, once that can't change any more.
--
-- the_space  deployment and tenant
-- the_run  its id
-- the_name  name of the effect
-- session  whose transaction it was, as settle_transaction said
-- mine  the transaction, so that no other one of the same session is ended
-- Returns  {verdict: done, result, payloadHash} | {verdict: gone}
--
-- The session may not know yet that its client is gone, and could still commit. It is ended, and its lock is awaited: the
-- new owner of the lock knows that the session has ended.
create or replace function recall_transaction(
  the_space text, the_run text, the_name text, session bigint, mine text
) returns jsonb
language plpgsql set search_path from current set lock_timeout = '5s'
as $$
declare
  known effect;
begin
  perform pg_terminate_backend(pid) from pg_stat_activity
  where pid = session and backend_xid = (mine::bigint % 4294967296)::text::xid;
  perform 1 from run where space = the_space and id = the_run for update;
  perform 1 from effect_begun where space = the_space and run_id = the_run and name = the_name for update;
  select * into known from effect where space = the_space and run_id = the_run and name = the_name and state = 'done';
  if not found then return '{"verdict": "gone"}'; end if;
  return jsonb_build_object('verdict', 'done', 'result', known.result, 'payloadHash', known.payload_hash);
end
$$;
