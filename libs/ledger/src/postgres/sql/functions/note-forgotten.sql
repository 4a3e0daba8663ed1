-- Records up to which instant runs or ranges were forgotten, so that a forgotten one is not mistaken for a missed one.
--
-- the_space  deployment and tenant
-- the_crons  for each that was forgotten, the name of its cron, whose row is locked
-- the_instants  for each, its instant
-- Returns  nothing
create or replace function note_forgotten(the_space text, the_crons text[], the_instants bigint[]) returns void
language plpgsql
set search_path from current
as $$
begin
  update cron set forgotten = greatest(forgotten, latest.instant)
  from (
    select (select cron.ctid from cron where cron.space = the_space and cron.name = gone.name) as at_row,
      max(gone.instant) as instant
    from unnest(the_crons, the_instants) as gone (name, instant) group by gone.name
  ) as latest
  where cron.ctid = latest.at_row;
end $$;
