-- Reads one run.
--
-- the_space  whose run it is
-- the_run  its id
-- the_keep_ms  how long a finished run is kept, ms
-- Returns  the run as describe_run shows it | null
create or replace function read_run(the_space text, the_run text, the_keep_ms bigint) returns json
language sql volatile
set search_path from current set enable_seqscan = off
as $$
  select describe_run(run) from run
  where space = the_space and id = the_run and (finished_at is null or finished_at + the_keep_ms > now_ms())
$$;
