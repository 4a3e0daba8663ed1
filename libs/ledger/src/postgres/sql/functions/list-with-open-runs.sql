-- Finds those of many crons that have runs to look at some time, or notifications that wait.
--
-- the_space  whose crons they are
-- the_crons  their names
-- Returns  a list of names
create or replace function list_with_open_runs(the_space text, the_crons text[]) returns json
language sql stable
set search_path from current set enable_seqscan = off
as $$
  select coalesce(json_agg(name), '[]')
  from unnest(the_crons) as asked_for (name)
  where exists (select from run where space = the_space and cron = name and is_watched)
     or exists (select from notification where space = the_space and cron = name)
$$;
