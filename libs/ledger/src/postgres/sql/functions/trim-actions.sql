-- Deletes all but the last thousand operator actions on a cron.
--
-- the_space  whose cron it is
-- the_cron  its name
-- Returns  nothing
--
-- Rows that another transaction is deleting are left to it: that transaction may take long.
-- In steps that need no statistics: each reads the key in its order, and the rows to delete are found by where they are.
create or replace function trim_actions(the_space text, the_cron text) returns void
language plpgsql set search_path from current set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
declare
  newest_surplus bigint;
  surplus tid[];
begin
  select id into newest_surplus from action where space = the_space and cron = the_cron order by id desc offset 1000 limit 1;
  if newest_surplus is null then return; end if;
  surplus := array(
    select ctid from action where space = the_space and cron = the_cron and id <= newest_surplus for update skip locked
  );
  delete from action where ctid = any(surplus);
end $$;
