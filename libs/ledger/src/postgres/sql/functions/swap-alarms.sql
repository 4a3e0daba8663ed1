-- Writes the alarm records of crons, each only if the stored record is still the one that the pod has read.
--
-- the_space  whose crons they are
-- the_swaps  a list of {cron, was, is}, null for no record
-- Returns  of each in order whether it was written
create or replace function swap_alarms(the_space text, the_swaps jsonb) returns json
language plpgsql
set search_path from current
as $$
declare
  swap jsonb;
  written boolean[] := '{}';
begin
  for swap in select * from jsonb_array_elements(the_swaps) loop
    if swap->>'was' is null and swap->>'is' is null then
      perform from alarm_record where space = the_space and cron = swap->>'cron';
      written := written || not found;
      continue;
    elsif swap->>'was' is null then
      insert into alarm_record (space, cron, record) values (the_space, swap->>'cron', swap->>'is') on conflict do nothing;
    elsif swap->>'is' is null then
      delete from alarm_record where space = the_space and cron = swap->>'cron' and record = swap->>'was';
    else
      update alarm_record set record = swap->>'is'
      where space = the_space and cron = swap->>'cron' and record = swap->>'was';
    end if;
    written := written || found;
  end loop;
  return array_to_json(written);
end $$;
