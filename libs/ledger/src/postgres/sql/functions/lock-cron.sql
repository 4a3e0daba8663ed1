-- Locks the record of a cron until the transaction ends, and makes one where there is none.
--
-- the_space  whose cron it is
-- the_cron  its name
-- Returns  the record as it is once it is locked
create or replace function lock_cron(the_space text, the_cron text) returns cron
language plpgsql
set search_path from current
as $$
declare
  this cron;
begin
  select * into this from cron where space = the_space and name = the_cron for update;
  if not found then
    insert into cron (space, name) values (the_space, the_cron) on conflict do nothing;
    select * into this from cron where space = the_space and name = the_cron for update;
  end if;
  return this;
end $$;
