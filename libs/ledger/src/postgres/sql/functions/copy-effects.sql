-- Copies the finished effects and items of one run to another run of the same cron.
--
-- the_space  whose runs they are
-- the_cron  their cron, locked
-- the_from  the run that finished them
-- the_to  the run that must not repeat them
-- Returns  nothing
create or replace function copy_effects(the_space text, the_cron text, the_from text, the_to text) returns void
language plpgsql
set search_path from current
as $$
begin
  perform from run where space = the_space and id = the_from and cron = the_cron;
  if not found then return; end if;
  insert into effect (space, run_id, name, state, since, finished_at, fence, result, payload_hash)
  select space, the_to, name, state, since, finished_at, fence, result, payload_hash
  from effect where space = the_space and run_id = the_from and state = 'done' order by id;
  insert into item (space, run_id, effect, key, state, since, fence)
  select space, the_to, effect, key, state, since, fence
  from item where space = the_space and run_id = the_from and state = 'done' order by id;
end $$;
