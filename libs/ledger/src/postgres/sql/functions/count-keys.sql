-- Counts the run ids of a cron that can't be used again although their record may be gone.
--
-- the_space  deployment and tenant
-- the_cron  its name
-- Returns  how many
create or replace function count_keys(the_space text, the_cron text) returns json
language sql stable set search_path from current
as $$
  select to_json(count(*)) from used_id where space = the_space and cron = the_cron and until > now_ms()
$$;
