-- Says whether an order was written by a build that knew no revisions; see revision.ts.
--
-- the_order  as catalog_cron has it
-- Returns  whether it is
create or replace function is_former(the_order bigint) returns boolean
language sql immutable
as $$ select the_order < 100 or the_order >= 1000000000000 $$;
