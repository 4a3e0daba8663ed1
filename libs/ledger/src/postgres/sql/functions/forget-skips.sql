-- Forgets the skipped ranges of many crons beyond the newest.
--
-- the_space  whose crons they are
-- the_crons  their names, locked
-- the_keep  how many ranges to keep per cron
-- the_most  how many ranges to forget at most
-- Returns  nothing
create or replace function forget_skips(the_space text, the_crons text[], the_keep bigint, the_most bigint) returns void
language plpgsql
set search_path from current
as $$
declare
  gone tid[];
  names text[];
  ends bigint[];
begin
  gone := array(
    select old.at_row from unnest(the_crons) as asked (name) cross join lateral (
      select through, after, reason from skip where space = the_space and cron = asked.name
      order by through desc, after desc, reason desc offset the_keep limit 1
    ) as surplus cross join lateral (
      -- With a limit of its own, it is looked up cron by cron.
      select ctid as at_row from skip where space = the_space and cron = asked.name
        and (through, after, reason) <= (surplus.through, surplus.after, surplus.reason)
      order by through limit the_most
    ) as old limit the_most
  );
  if gone = '{}' then return; end if;
  with deleted as (
    delete from skip where ctid = any(gone) returning cron, through
  )
  select array_agg(cron), array_agg(through) into names, ends from deleted;
  perform note_forgotten(the_space, names, ends);
end $$;
