-- Reads what revisions of an app declare.
--
-- the_space  whose catalog it is
-- the_app  whose revisions they are
-- the_orders  of the revisions
-- Returns  the names of each in order, a line each, null where they are no longer kept
create or replace function read_sets(the_space text, the_app text, the_orders bigint[]) returns json
language sql stable
set search_path from current
as $$
  select coalesce(json_agg(names order by place), '[]')
  from unnest(the_orders) with ordinality as asked_for (wanted, place)
  left join catalog_revision_set as kept on kept.space = the_space and kept.app = the_app and kept.seq = wanted
$$;
