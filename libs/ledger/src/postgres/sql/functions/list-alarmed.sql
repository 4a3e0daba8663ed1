-- Lists the crons of which an alarm record is kept.
--
-- the_space  whose crons they are
-- Returns  their names
create or replace function list_alarmed(the_space text) returns json
language sql stable
set search_path from current
as $$ select coalesce(json_agg(cron order by cron), '[]') from alarm_record where space = the_space $$;
