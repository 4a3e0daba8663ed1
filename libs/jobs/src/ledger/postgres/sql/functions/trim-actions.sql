-- Deletes what operators did to a cron, but for the last thousand.
--
-- the_space  whose cron it is
-- the_cron  its name
-- Returns  nothing
--
-- What somebody else is about to delete is left to them: their transaction may take its time.
create or replace function trim_actions(the_space text, the_cron text) returns void
language sql volatile
set search_path from current
as $$
  delete from action where space = the_space and cron = the_cron and id in (
    select id from action where space = the_space and cron = the_cron and id <= (
      select id from action where space = the_space and cron = the_cron order by id desc offset 1000 limit 1
    )
    for update skip locked
  )
$$;
