-- Ends current attempts: each run succeeds, fails, was cancelled, waits for its next attempt, or for a person.
--
-- the_space  deployment and tenant
-- requests  a list of {cron, runId, fence, nonce, kind, error, delayMs, question}
-- sweep_ms  look at one that waits for its next attempt so long after that is due
-- Returns  a list in the same order: the state, or null for a stale attempt
create or replace function finish_attempts(the_space text, requests jsonb, sweep_ms bigint) returns jsonb
language plpgsql set search_path from current
as $$
declare
  locked text[] := lock_crons(the_space, requests);
  plain jsonb := finish_plain_attempts(the_space, requests, locked);
  replies text[];
  request jsonb;
  at_place text;
begin
  for request, at_place in
    select one, place from jsonb_array_elements(requests) with ordinality list (one, place) order by place
  loop
    replies := array_append(replies, case
      when plain ? at_place then plain ->> at_place
      when request ->> 'cron' = any (locked) then finish_attempt(the_space, request, sweep_ms) end);
  end loop;
  return to_jsonb(replies);
end
$$;
