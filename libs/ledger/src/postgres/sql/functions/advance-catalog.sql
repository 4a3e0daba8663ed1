-- Counts a change of the catalog, and remembers which crons it is about.
--
-- the_space  whose catalog it is, locked
-- the_now  when, epoch ms
-- the_crons  names
-- Returns  its version
--
-- The version is never below the clock, in microseconds: a catalog that was lost would otherwise reach a number that a pod
-- knows already, and the pod would not read it.
-- The last 20,000 changes are remembered (see catalog.ts). They begin anew where the newest isn't of the version before: an earlier
-- build changed the catalog and noted nothing.
create or replace function advance_catalog(the_space text, the_now bigint, the_crons text[]) returns bigint
language plpgsql
set search_path from current
as $$
declare
  this catalog_state;
  newest catalog_change;
begin
  select * into this from catalog_state where space = the_space;
  select * into newest from catalog_change where space = the_space order by version desc, number desc limit 1;
  if newest.version <> this.version or cardinality(the_crons) = 0 then
    delete from catalog_change where space = the_space;
  end if;
  update catalog_state
  set version = greatest(version + 1, floor(extract(epoch from clock_timestamp()) * 1000000)::bigint),
    born_at = coalesce(born_at, the_now)
  where space = the_space
  returning * into this;
  insert into catalog_change (space, version, number, cron)
  select the_space, this.version, coalesce(newest.number, 0) + place, name
  from unnest(the_crons) with ordinality as changed (name, place);
  delete from catalog_change as old using (
    select version, number from catalog_change where space = the_space order by version, number limit 1000
  ) as oldest
  where old.space = the_space and old.version = oldest.version and old.number = oldest.number
    and old.number <= coalesce(newest.number, 0) + cardinality(the_crons) - 20000;
  return this.version;
end $$;
