-- Skips runs that wait for their first attempt and exceed the limit: the new run takes their place.
--
-- the_space  whose cron it is
-- the_cron  its name, locked
-- the_most  how many runs may be open
-- the_now  epoch ms
-- Returns  nothing
--
-- The oldest of them stay: otherwise a cron that fires faster than its workers begin would never run.
create or replace function supersede_runs(the_space text, the_cron text, the_most bigint, the_now bigint) returns void
language plpgsql
set search_path from current
as $$
begin
  with in_the_way as (
    select id, attempt = 0 and state <> 'running' as waits, scheduled_at
    from run where space = the_space and cron = the_cron and is_open and open_until > the_now
  ), waiting as (
    select id, row_number() over (order by scheduled_at, id) as place from in_the_way where waits
  )
  update run set
    state = 'skipped', skipped = 'superseded', finished_at = the_now, open_until = null, watch_at = null, pending = false
  where space = the_space and id in (
    select id from waiting where place > greatest(0, the_most - (select count(*) from in_the_way where not waits))
  );
end $$;
