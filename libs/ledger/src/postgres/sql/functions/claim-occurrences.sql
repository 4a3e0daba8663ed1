-- Decides the claims of many crons, each for itself.
--
-- the_space  whose crons they are
-- the_tolerance  for clocks that differ, ms
-- the_recover  look again after, ms
-- the_claims  a list of {cron, fence, term, holder, generation, nonce, cursor, began, overlap, most, grace, runId, instant,
--           dueAt, reason, skips, missed, startBy, handler, payload}; cursor: where the plan started from, or null; began: where
--           it began if that is null; runId: null when only ranges are recorded, and instant is then the end of the last one
-- Returns  for each claim in order the ClaimReply of ledger.ts, its fence as text; see postgres-occurrence-codec.ts
--
-- The rows are locked in the order of their names before anything is decided, so that no two calls wait for each other.
create or replace function claim_occurrences(the_space text, the_tolerance bigint, the_recover bigint, the_claims jsonb)
returns json
language plpgsql
set search_path from current set enable_seqscan = off
as $$
declare
  claim jsonb;
  this cron;
  at_now bigint;
  reply json;
  replies json[] := '{}';
begin
  perform lock_cron(the_space, name) from (
    select distinct (one->>'cron') collate "C" as name from jsonb_array_elements(the_claims) as one order by 1
  ) as sorted;
  at_now := now_ms();
  for claim in select * from jsonb_array_elements(the_claims) loop
    select * into this from cron where space = the_space and name = claim->>'cron';
    reply := refuse_claim(this, claim, at_now, the_tolerance);
    if reply is null then reply := accept_claim(this, claim, at_now, the_recover); end if;
    replies := replies || reply;
  end loop;
  return array_to_json(replies);
end $$;
