-- One index for open runs and for those to look at, instead of three, and room in each page of `run` for the next version of its rows.
--
-- Phase  expand
-- Locks  run: ACCESS EXCLUSIVE; run: SHARE; run: SHARE UPDATE EXCLUSIVE, while all rows are read once
--
-- Confirming a run changed `pending`, the condition of an index: the run got a new entry in every index. No index names a column now
-- that changes between a run's claim and its end, so that a version of a row needs only room in its page.
--
-- Builds before version 13 find open runs and those to look at by the new index too. To list pending runs they read all runs
-- of a deployment: slow in a large one, and over when the upgrade is. The indexes are dropped first: to lock the table ever more
-- strictly would be a circle with any transaction that has read it and is about to write.
drop index run_open;
drop index run_watched;
drop index run_pending;
create index run_unfinished on run (space, cron) where is_open or is_watched;
alter table run set (fillfactor = 50);
