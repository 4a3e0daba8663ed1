-- Says whether a record is of an app. Former releases added the path of the program to the name of its package.
--
-- the_source  the app that the record names
-- the_order  of the revision in force
-- the_app  the app that asks
-- Returns  whether the cron is its own
create or replace function owns_cron(the_source text, the_order bigint, the_app text) returns boolean
language sql immutable
as $$
  select the_source = the_app or (is_former(the_order) and starts_with(the_source, the_app || '/'))
$$;
