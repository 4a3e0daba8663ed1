-- Forgets finished runs beyond the newest, or older than is kept, and the skipped ranges beyond as many.
--
-- the_space  whose cron it is
-- the_cron  its name
-- the_keep  how many to keep
-- the_keep_ms  how long a finished run is kept, ms
-- the_most  how many runs to forget at most
-- Returns  how many runs were forgotten
create or replace function forget_runs(the_space text, the_cron text, the_keep bigint, the_keep_ms bigint, the_most bigint)
returns json
language plpgsql
set search_path from current set enable_seqscan = off
as $$
declare
  ended bigint;
  newest_range bigint;
  surplus run;
  gone tid[];
begin
  perform lock_cron(the_space, the_cron);
  ended := now_ms() - the_keep_ms;
  delete from used_id where space = the_space and cron = the_cron and until <= now_ms();
  with kept as (
    select through, after, reason from skip where space = the_space and cron = the_cron
    order by through desc, after desc, reason desc limit the_keep
  ), dropped as (
    delete from skip where space = the_space and cron = the_cron
      and (through, after, reason) not in (select through, after, reason from kept)
    returning through
  )
  select max(through) into newest_range from dropped;
  if newest_range is not null then
    update cron set forgotten = greatest(forgotten, newest_range) where space = the_space and name = the_cron;
  end if;

  select * into surplus from run where space = the_space and cron = the_cron and generation >= 0
  order by scheduled_at desc, id desc offset the_keep limit 1;
  gone := array(
    select ctid from run where space = the_space and cron = the_cron and generation >= 0 and finished_at is not null
      and ((scheduled_at, id) <= (surplus.scheduled_at, surplus.id) or finished_at <= ended)
    order by scheduled_at, id limit the_most
  );
  if gone <> '{}' then perform delete_runs(the_space, the_cron, gone); end if;
  return to_json(cardinality(gone));
end $$;
