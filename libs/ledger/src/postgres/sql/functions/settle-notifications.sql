-- Deletes notifications of a cron that were handed on or are not wanted.
--
-- the_space  whose cron it is
-- the_cron  its name
-- the_receipts  as list_notifications shows them
-- Returns  how many were there
create or replace function settle_notifications(the_space text, the_cron text, the_receipts text[]) returns json
language sql volatile
set search_path from current
as $$
  with settled as (
    delete from notification where space = the_space and cron = the_cron and id = any(the_receipts::bigint[]) returning id
  )
  select to_json(count(*)) from settled
$$;
