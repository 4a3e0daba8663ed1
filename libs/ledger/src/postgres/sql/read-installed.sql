-- Reads which version a ledger's tables are of, and which builds they admit.
--
-- $1  the schema
-- $2  the name of one of the functions of this build
-- Returns  version, minimum, and whether the functions are there
--
-- Tables of version 6 and older have no minimum, and admit builds of exactly their own version.
select version, coalesce((to_jsonb(made) ->> 'minimum')::integer, version) as minimum, exists (
  select from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = $1 and p.proname = $2
) as functions
from :table made order by version desc limit 1
