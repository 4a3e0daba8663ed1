-- Opens the transaction of a migration, and waits for any other migration to end.
--
-- Returns  nothing
--
-- The lock is the one under which the tables of leases are made, because both may create the schema. READ COMMITTED, so that
-- the one that waited sees what the earlier one has made. Functions are created before those they call.
begin isolation level read committed;
select pg_advisory_xact_lock(7310579598273);
set local client_min_messages to warning;
set local check_function_bodies to off;
