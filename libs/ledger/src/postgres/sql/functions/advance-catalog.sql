-- Counts a change of the catalog.
--
-- the_space  whose catalog it is, locked
-- the_now  when, epoch ms
-- Returns  its version
--
-- The version is never below the clock, in microseconds: a catalog that was lost would otherwise reach a number that a pod
-- knows already, and the pod would not read it.
create or replace function advance_catalog(the_space text, the_now bigint) returns bigint
language sql volatile
set search_path from current
as $$
  update catalog_state
  set version = greatest(version + 1, floor(extract(epoch from clock_timestamp()) * 1000000)::bigint),
    born_at = coalesce(born_at, the_now)
  where space = the_space
  returning version
$$;
