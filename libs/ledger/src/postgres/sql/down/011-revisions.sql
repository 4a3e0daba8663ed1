-- Takes the revisions away, and lets builds of the version before declare again.
--
-- These builds compare their number, a time or one of the user's own, with `seq`: 0 is below all of them. They also compare the
-- name of their program. What an app with one program has declared since goes to that program, and what an app with several has
-- declared to whichever declares it next, like a cron that was made at run time.
update catalog_cron set seq = 0, source = program.name
from (
  select known.space, known.app,
    case count(former.source) when 0 then known.app when 1 then min(former.source) else '' end as name
  from catalog_revision as known left join catalog_build as former
    on former.space = known.space and starts_with(former.source, known.app || '/')
  group by known.space, known.app
) as program
where program.space = catalog_cron.space and program.app = catalog_cron.source and seq between 100 and 999999999999;
delete from catalog_build using catalog_revision as known
where known.space = catalog_build.space and (catalog_build.source = known.app or starts_with(catalog_build.source, known.app || '/'));
drop table catalog_revision_set;
drop table catalog_revision;
