-- Remembers that run ids were used, beside their records.
--
-- the_space  deployment and tenant
-- the_crons  for each run, the name of its cron
-- the_runs  their ids, each once
-- the_until  until when, epoch ms
-- Returns  nothing
create or replace function remember_ids(the_space text, the_crons text[], the_runs text[], the_until bigint) returns void
language sql set search_path from current
as $$
  insert into used_id as u (space, run_id, cron, until)
  select the_space, used.run_id, used.cron, the_until from unnest(the_crons, the_runs) as used (cron, run_id)
  on conflict (space, run_id) do update set until = greatest(u.until, excluded.until)
$$;
