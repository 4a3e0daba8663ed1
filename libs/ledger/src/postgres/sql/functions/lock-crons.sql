-- Locks the rows of crons in the order of their names, so that two batches about the same crons never wait for each other.
--
-- the_space  deployment and tenant
-- requests  a list of objects with a cron each
-- Returns  names: of those that exist; a run of any other cron is not locked, and does not exist. places: where their rows
--            are, in the same order, until they are written. fences: the highest of an attempt of each
create or replace function lock_crons(the_space text, requests jsonb, out names text[], out places tid[], out fences bigint[])
language plpgsql set search_path from current
as $$
begin
  select array_agg(locked.name), array_agg(locked.at_row), array_agg(locked.run_fence) into names, places, fences
  from (
    select distinct (one ->> 'cron') collate "C" as name from jsonb_array_elements(requests) one order by name
  ) asked cross join lateral (
    select cron.name, cron.ctid as at_row, cron.run_fence from cron
    where cron.space = the_space and cron.name = asked.name for update
  ) locked;
  names := coalesce(names, '{}');
  places := coalesce(places, '{}');
  fences := coalesce(fences, '{}');
end
$$;
