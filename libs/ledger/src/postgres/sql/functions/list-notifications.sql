-- Lists the notifications of a cron that wait to be settled, the oldest first.
--
-- the_space  whose cron it is
-- the_cron  its name
-- the_most  how many at most
-- Returns  a list of {receipt, runId, state, notify, attempt, at, tookMs, error, question}
create or replace function list_notifications(the_space text, the_cron text, the_most bigint) returns json
language sql stable
set search_path from current
as $$
  select coalesce(json_agg(json_build_object(
    'receipt', id::text, 'runId', run_id, 'state', state, 'notify', notify, 'attempt', attempt, 'at', at,
    'tookMs', took_ms, 'error', error, 'question', question
  ) order by id), '[]')
  from (
    select * from notification where space = the_space and cron = the_cron order by id limit the_most
  ) as oldest
$$;
