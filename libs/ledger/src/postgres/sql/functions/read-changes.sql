-- Reads one page of the catalog of a space, or of what changed in it after a version.
--
-- the_space  whose catalog it is
-- the_version  the version; null: everything
-- the_after  where the page before ended; null for the first
-- the_limit  at most how many crons
-- Returns  what read_catalog returns, with [name that is gone, ...] and where this page ended, empty for the last; null where the
--          changes don't reach back to the version
--
-- Everything is read by name, and then what has changed since the first page. The changes know a version only if one of them
-- made it: after a failover that lost some, a version that was lost is unknown too.
create or replace function read_changes(the_space text, the_version bigint, the_after text, the_limit integer) returns json
language plpgsql
set search_path from current
as $$
declare
  -- 'all <version> <name>' or 'log <version> <number>'
  words constant text[] := regexp_match(the_after, '^(all|log) (\d+) (.*)$');
  start bigint := coalesce(words[2]::bigint, the_version);
  at_number bigint := case when words[1] = 'log' then nullif(words[3], '')::bigint end;
  current bigint;
  names text[] := '{}';
  versions bigint[];
  numbers bigint[];
  last text := '';
  found json;
begin
  perform share_catalog(the_space);
  select version into current from catalog_state where space = the_space;
  current := coalesce(current, 0);
  if the_version is null and words[1] is distinct from 'log' then
    start := coalesce(start, current);
    names := array(
      select name from catalog_cron where space = the_space and name > coalesce(words[3], '') order by name limit the_limit
    );
    last := case
      when cardinality(names) = the_limit then format('all %s %s', start, names[the_limit])
      when start <> current then format('log %s ', start)
      else ''
    end;
  elsif start <> current or at_number is not null then
    if current is distinct from (
      select version from catalog_change where space = the_space order by version desc limit 1
    ) or not exists (
      select from catalog_change where space = the_space and version = start and number = coalesce(at_number, number)
    ) then
      return null;
    end if;
    select coalesce(array_agg(cron), '{}'), array_agg(version), array_agg(number) into names, versions, numbers from (
      select cron, version, number from catalog_change
      where space = the_space and (version, number) > (start, coalesce(at_number, 9223372036854775807))
      order by version, number limit the_limit
    ) as page;
    if cardinality(names) = the_limit then last := format('log %s %s', versions[the_limit], numbers[the_limit]); end if;
  end if;
  found := read_catalog(the_space, names);
  return json_build_array(
    found->0, found->1, found->2, found->3, found->4,
    array(
      select distinct name from unnest(names) as name where not exists (
        select from catalog_generation where space = the_space and cron = name
      )
    ),
    last
  );
end $$;
