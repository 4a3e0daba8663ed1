-- Lists records of the audit trail.
--
-- the_space  whose trail it is
-- the_most  how many at most
-- the_at  only records before this instant, and before
-- the_n  this one of its millisecond; null: all
-- the_cron  only those about this cron, alone or as one of many, or about a run of it; null: all
-- Returns  a list of {id, record}, the newest first, the record as JSON text
create or replace function list_records(the_space text, the_most bigint, the_at bigint, the_n bigint, the_cron text)
returns json
language sql stable
set search_path from current
as $$
  select coalesce(json_agg(json_build_object('id', at || '-' || n, 'record', record) order by number desc), '[]') from (
    select number, at, n, record from audit_record
    where space = the_space and (the_at is null or (at, n) < (the_at, the_n))
      and (
        the_cron is null or cron = the_cron or starts_with(run_id, the_cron || '@')
        or substring(record from '^\{"crons":(\[[^]]*\])')::jsonb ? the_cron
      )
    order by number desc limit the_most
  ) as newest
$$;
