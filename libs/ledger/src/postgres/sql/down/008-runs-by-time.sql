-- Takes the index away again.
drop index run_by_time;
