-- Forgets run ids of many crons that can be used again.
--
-- the_space  whose crons they are
-- the_crons  their names, locked
-- the_most  how many ids to forget at most; twice as many as runs, so that they become fewer
-- Returns  nothing
create or replace function forget_ids(the_space text, the_crons text[], the_most bigint) returns void
language plpgsql
set search_path from current
as $$
declare
  at_now constant bigint := now_ms();
begin
  delete from used_id where ctid = any(array(
    select past.at_row from unnest(the_crons) as asked (name) cross join lateral (
      -- With a limit of its own, it is looked up cron by cron.
      select ctid as at_row from used_id where space = the_space and cron = asked.name and until <= at_now
      order by until limit the_most
    ) as past limit the_most
  ));
end $$;
