-- Lists crons with runs that were claimed and never confirmed, and that are due for a look.
--
-- the_space  whose crons they are
-- the_most  how many at most
-- Returns  a list of names
create or replace function list_waiting(the_space text, the_most bigint) returns json
language sql volatile
set search_path from current
as $$
  select coalesce(json_agg(cron), '[]')
  from (
    select distinct cron from run where space = the_space and is_watched and pending and watch_at <= now_ms() limit the_most
  ) as waiting
$$;
