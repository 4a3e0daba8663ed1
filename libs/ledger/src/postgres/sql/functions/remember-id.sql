-- Remembers that a run id was used, beside its record.
--
-- the_space  deployment and tenant
-- the_cron  its name
-- the_run  its id
-- the_until  until when, epoch ms
-- Returns  nothing
create or replace function remember_id(the_space text, the_cron text, the_run text, the_until bigint) returns void
language sql set search_path from current
as $$
  insert into used_id as u (space, run_id, cron, until) values (the_space, the_run, the_cron, the_until)
  on conflict (space, run_id) do update set until = greatest(u.until, excluded.until)
$$;
