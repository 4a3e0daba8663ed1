-- Records an operator's action on a cron.
--
-- the_space  whose cron it is
-- the_cron  its name
-- the_at  when, epoch ms
-- the_action  what, as the actions of run.ts are called
-- the_by  who
-- the_reason  why, or null
-- the_run  the run it is about, or null
-- Returns  nothing
create or replace function note_action(
  the_space text, the_cron text, the_at bigint, the_action text, the_by text, the_reason text, the_run text
) returns void
language plpgsql
set search_path from current
as $$
declare
  number bigint;
begin
  insert into action (space, cron, at, action, by, reason, run_id)
  values (the_space, the_cron, the_at, the_action, the_by, the_reason, the_run)
  returning id into number;
  -- Trimming now and then is enough: readers see only the last thousand.
  if number % 100 = 0 then perform trim_actions(the_space, the_cron); end if;
end $$;
