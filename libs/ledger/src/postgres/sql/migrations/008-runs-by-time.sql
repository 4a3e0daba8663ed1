-- An index for the runs of a cron in the order of their instants that serves nothing else.
--
-- Phase  expand
-- Locks  run: SHARE, while the index is built
--
-- The condition holds for every run, and no update changes what it is about. A query that doesn't state it can't be planned
-- with this index, so that one run is looked up by its key whatever the statistics say. Of one instant there are few runs:
-- their order needs no column here.
create index run_by_time on run (space, cron, scheduled_at desc) where generation >= 0;
