-- Opens the transaction of a migration, and waits until nobody else is in one.
--
-- Returns  nothing
--
-- The lock is the one under which the tables of leases are made, because both may create the schema. READ COMMITTED, so that
-- whoever had to wait sees what the one before has made. Functions are created before those they call.
begin isolation level read committed;
select pg_advisory_xact_lock(7310579598273);
set local client_min_messages to warning;
set local check_function_bodies to off;
