-- Makes the index again that builds of version 7 list runs with.
create index run_by_instant on run (space, cron, scheduled_at desc, id desc);
