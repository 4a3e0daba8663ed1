-- The revisions of each app, and the crons of the newest ones.
--
-- Phase  expand
-- Locks  catalog_revision: ACCESS EXCLUSIVE; catalog_revision: SHARE; catalog_revision_set: ACCESS EXCLUSIVE; catalog_revision_set: SHARE, both tables are new
--
-- `catalog_cron.seq` is now the order of the revision in force (see revision.ts), and `source` is the app. Existing rows stay:
-- builds before version 11 ordered themselves by a time in milliseconds, which is larger than every order. `catalog_build` keeps
-- these builds from declaring once a later build has enrolled.
create table catalog_revision (
  space text collate "C" not null,
  app text collate "C" not null,
  -- JSON as text: a writer compares it with what it read.
  record text not null,
  primary key (space, app)
);

create table catalog_revision_set (
  space text collate "C" not null,
  app text collate "C" not null,
  seq bigint not null,
  -- One line per cron: its name and the beginning of its hash.
  names text not null,
  primary key (space, app, seq)
);
