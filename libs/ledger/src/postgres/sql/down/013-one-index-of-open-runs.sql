-- Makes the three indexes again that builds of version 12 find unfinished runs with.
drop index run_unfinished;
alter table run set (fillfactor = 75);
create index run_open on run (space, cron) where is_open;
create index run_watched on run (space, cron) where is_watched;
create index run_pending on run (space, cron, scheduled_at, id) where pending;
