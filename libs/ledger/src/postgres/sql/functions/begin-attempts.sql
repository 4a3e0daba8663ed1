-- Starts attempts of runs and issues their fences, or says of each why not.
--
-- the_space  deployment and tenant
-- requests  a list of {cron, runId, nonce, worker, ttlMs, maxAttempts, notify}
-- turn_ms  ask again after, while a run of the cron has to be waited for
-- Returns  a list in the same order, as begin_attempt answers
--
-- Planned once in a session, with all that it calls, and in one way whatever the statistics say: no other index than the key
-- can look up one id, and then the row is where that has found it. Any other plan may be one that reads all of a table or of an
-- index, for as long as the session lasts or until the table is analyzed.
create or replace function begin_attempts(the_space text, requests jsonb, turn_ms bigint) returns json
language plpgsql set search_path from current set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
declare
  locked text[];
  rows_locked tid[];
  fences bigint[];
  begun bigint[];
  plain json[];
  replies json[];
  request jsonb;
  at_place bigint;
begin
  select asked.names, asked.places, asked.fences into locked, rows_locked, fences from lock_crons(the_space, requests) asked;
  select array_agg(one.at_place order by one.at_place), array_agg(one.reply order by one.at_place) into begun, plain
  from begin_plain_attempts(the_space, requests, locked, rows_locked, fences) one;
  if cardinality(begun) = jsonb_array_length(requests) then return array_to_json(plain); end if;
  for request, at_place in
    select one, place from jsonb_array_elements(requests) with ordinality list (one, place) order by place
  loop
    replies := array_append(replies, case
      when at_place = any (begun) then plain[array_position(begun, at_place)]
      when request ->> 'cron' = any (locked) then begin_attempt(the_space, request, turn_ms)::json
      else '{"verdict": "missing"}' end);
  end loop;
  return array_to_json(replies);
end
$$;
