-- Shows the pause of a cron.
--
-- this  the cron
-- the_until  its end, epoch ms, the largest bigint for none; null where there is no pause
-- Returns  {since, until, by, reason} | null
create or replace function describe_pause(this cron, the_until bigint) returns json
language sql immutable
as $$
  select case when the_until is not null then json_build_object(
    'since', this.paused_since, 'until', nullif(the_until, 9223372036854775807), 'by', this.paused_by,
    'reason', this.paused_reason
  ) end
$$;
