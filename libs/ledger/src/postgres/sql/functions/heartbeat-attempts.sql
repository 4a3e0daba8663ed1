-- Extends the run leases of current attempts, and says of each whether it was cancelled.
--
-- the_space  deployment and tenant
-- requests  a list of {cron, runId, fence, nonce, ttlMs}
-- Returns  a list in the same order: extended | cancelled | stale
create or replace function heartbeat_attempts(the_space text, requests jsonb) returns jsonb
language plpgsql set search_path from current
as $$
declare
  locked text[] := lock_crons(the_space, requests);
  replies text[];
  request jsonb;
begin
  for request in select one from jsonb_array_elements(requests) with ordinality list (one, place) order by place loop
    replies := replies || case when request ->> 'cron' = any (locked)
      then heartbeat_attempt(the_space, request) else 'stale' end;
  end loop;
  return to_jsonb(replies);
end
$$;
