-- The last changes of a catalog, so that a reader gets what changed after a version it knows.
--
-- Phase  expand
-- Locks  catalog_change: ACCESS EXCLUSIVE; catalog_change: SHARE, a table that is new
--
-- A build before version 10 writes none. The next change by a later build notices that, and the changes begin anew.
create table catalog_change (
  space text collate "C" not null,
  -- Of the catalog after the change; one change may be about many crons.
  version bigint not null,
  -- Counts the rows of a space, so that the oldest are deleted without counting them.
  number bigint not null,
  cron text collate "C" not null,
  primary key (space, version, number)
);
