-- Names the lock that readers of a catalog share and its writers have alone.
--
-- the_space  whose catalog it is
-- Returns  the key of an advisory lock
create or replace function key_catalog(the_space text) returns bigint
language sql stable
set search_path from current
as $$ select hashtextextended('fencepost catalog ' || current_schema() || ' ' || the_space, 0) $$;
