-- Locks the rows of crons in the order of their names, so that two batches about the same crons never wait for each other.
--
-- the_space  deployment and tenant
-- requests  a list of objects with a cron each
-- Returns  the names that exist; a run of any other cron is not locked, and does not exist
create or replace function lock_crons(the_space text, requests jsonb) returns text[]
language plpgsql set search_path from current
as $$
begin
  return array(
    select locked.name from (
      select distinct (one ->> 'cron') collate "C" as name from jsonb_array_elements(requests) one order by name
    ) asked cross join lateral (
      select cron.name from cron where cron.space = the_space and cron.name = asked.name for update
    ) locked
  );
end
$$;
