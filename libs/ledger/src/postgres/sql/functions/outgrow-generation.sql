-- Renumbers the generations of a cron above one that the ledger has accepted, unless the newest is at least that.
--
-- the_space  whose catalog it is
-- the_cron  its name
-- the_accepted  the generation that the ledger has accepted
-- Returns  whether they were counted on
--
-- All of them move on, and each keeps when that was: claims before that bear another number.
create or replace function outgrow_generation(the_space text, the_cron text, the_accepted bigint) returns boolean
language plpgsql
set search_path from current
as $$
declare
  this catalog_state := lock_catalog(the_space);
  at_now constant bigint := now_ms();
  oldest bigint;
  newest bigint;
begin
  select min(generation), max(generation) into oldest, newest
  from catalog_generation where space = the_space and cron = the_cron;
  if newest is null or newest >= the_accepted then return false; end if;
  -- The new numbers lie above all old ones.
  update catalog_generation set generation = generation + the_accepted + 1 - oldest, renumbered_at = at_now
  where space = the_space and cron = the_cron;
  perform advance_catalog(the_space, at_now, array[the_cron]);
  return true;
end $$;
