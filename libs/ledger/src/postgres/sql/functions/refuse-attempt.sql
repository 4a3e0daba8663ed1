-- Counts a call of an attempt that is not, or no longer, the current one.
--
-- the_space  deployment and tenant
-- the_cron  its name
-- Returns  nothing
create or replace function refuse_attempt(the_space text, the_cron text) returns void
language plpgsql set search_path from current
as $$
begin
  update cron set refusals = refusals + 1 where space = the_space and name = the_cron;
end
$$;
