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
--
-- Planned as begin_attempts is, and so is all that it calls.
create or replace function claim_occurrences(the_space text, the_tolerance bigint, the_recover bigint, the_claims jsonb)
returns json
language plpgsql
set search_path from current set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
declare
  claim jsonb;
  this cron;
  at_now bigint;
  made text[];
  reply json;
  replies json[] := '{}';
begin
  if jsonb_path_exists(the_claims, '$[*] ? (@.cursor == null)') then
    -- A cron without a cursor may have no row yet.
    perform lock_cron(the_space, name) from (
      select distinct (one->>'cron') collate "C" as name from jsonb_array_elements(the_claims) as one order by 1
    ) as sorted;
  else
    perform lock_crons(the_space, the_claims);
  end if;
  at_now := now_ms();
  made := array(select claim_plain_occurrences(the_space, at_now, the_tolerance, the_recover, the_claims));
  if cardinality(made) = jsonb_array_length(the_claims) then
    return (
      select json_agg(json_build_object('verdict', 'claimed', 'runId', one->>'runId') order by place)
      from jsonb_array_elements(the_claims) with ordinality as list (one, place)
    );
  end if;
  for claim in select * from jsonb_array_elements(the_claims) loop
    if claim->>'runId' = any(made) then
      -- A second claim of it is answered as one that is sent again.
      made := array_remove(made, claim->>'runId');
      reply := json_build_object('verdict', 'claimed', 'runId', claim->>'runId');
    else
      select * into this from cron where space = the_space and name = claim->>'cron';
      reply := refuse_claim(this, claim, at_now, the_tolerance);
      if reply is null then reply := accept_claim(this, claim, at_now, the_recover); end if;
    end if;
    replies := replies || reply;
  end loop;
  return array_to_json(replies);
end $$;
