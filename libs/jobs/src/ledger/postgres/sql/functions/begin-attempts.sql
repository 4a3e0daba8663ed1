-- Starts attempts of runs and issues their fences, or says of each why not.
--
-- the_space  deployment and tenant
-- requests  a list of {cron, runId, nonce, worker, ttlMs, maxAttempts}
-- turn_ms  ask again after, while a run of the cron has to be waited for
-- Returns  a list in the same order, as begin_attempt answers
create or replace function begin_attempts(the_space text, requests jsonb, turn_ms bigint) returns jsonb
language plpgsql set search_path from current
as $$
declare
  locked text[] := lock_crons(the_space, requests);
  plain jsonb := begin_plain_attempts(the_space, requests, locked);
  replies jsonb[];
  request jsonb;
  at_place text;
begin
  for request, at_place in
    select one, place from jsonb_array_elements(requests) with ordinality list (one, place) order by place
  loop
    replies := replies || case
      when plain ? at_place then plain -> at_place
      when request ->> 'cron' = any (locked) then begin_attempt(the_space, request, turn_ms)
      else '{"verdict": "missing"}' end;
  end loop;
  return to_jsonb(replies);
end
$$;
