-- Ends current attempts: each run succeeds, fails, was cancelled, waits for its next attempt, or for a person.
--
-- the_space  deployment and tenant
-- requests  a list of {cron, runId, fence, nonce, kind, error, delayMs, question}
-- sweep_ms  how long after its next attempt is due a waiting run is checked
-- Returns  a list in the same order: the state, or null for a stale attempt
create or replace function finish_attempts(the_space text, requests jsonb, sweep_ms bigint) returns json
language plpgsql set search_path from current
as $$
declare
  locked text[] := lock_crons(the_space, requests);
  places bigint[];
  plain text[];
  replies text[];
  request jsonb;
  at_place bigint;
begin
  select array_agg(one.at_place order by one.at_place), array_agg(one.reply order by one.at_place) into places, plain
  from finish_plain_attempts(the_space, requests, locked) one;
  if cardinality(places) = jsonb_array_length(requests) then return array_to_json(plain); end if;
  for request, at_place in
    select one, place from jsonb_array_elements(requests) with ordinality list (one, place) order by place
  loop
    replies := array_append(replies, case
      when at_place = any (places) then plain[array_position(places, at_place)]
      when request ->> 'cron' = any (locked) then finish_attempt(the_space, request, sweep_ms) end);
  end loop;
  return array_to_json(replies);
end
$$;
