-- Says what a new run of a cron would find: whether it has to be skipped, and how many open ones there are too many.
--
-- the_space  whose cron it is
-- the_cron  its name, locked
-- the_overlap  policy: skip | queue-one | queue-all | replace | allow
-- the_most  how many runs may be open at once before it applies
-- the_now  epoch ms
-- Returns  skipped, surplus, waits: why one of the open runs has not begun, or null
create or replace function weigh_overlap(
  the_space text, the_cron text, the_overlap text, the_most bigint, the_now bigint, out skipped boolean, out surplus bigint,
  out waits text
)
language plpgsql
set search_path from current
as $$
declare
  -- MAX_QUEUE_LENGTH in run.ts.
  longest_queue constant bigint := 100;
  in_line bigint;
begin
  skipped := false;
  surplus := 0;
  if the_overlap = 'allow' then return; end if;
  select count(*) - the_most + 1, count(*) filter (where open_until = 9223372036854775807), max(waiting)
  into surplus, in_line, waits
  from run where space = the_space and cron = the_cron and is_open and open_until > the_now;
  surplus := greatest(surplus, 0);
  if surplus = 0 then return; end if;
  skipped := the_overlap = 'skip' or (the_overlap = 'queue-all' and in_line >= longest_queue);
end $$;
