-- Lists what the current role may not do with the ledger's schema and tables, and would have to.
--
-- $1  the schema
-- Returns  a row for each missing right: what it is about, and the right
select n.nspname::text as subject, 'USAGE' as "right"
from pg_namespace n
where n.nspname = $1 and not has_schema_privilege(n.oid, 'USAGE')
union all
select c.relname::text, needed."right"
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
cross join unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) as needed ("right")
where n.nspname = $1
  and c.relname in (
    'cron', 'run', 'run_result', 'skip', 'asked', 'effect', 'effect_begun', 'item', 'used_id', 'catalog_state',
    'catalog_cron', 'catalog_generation', 'catalog_change', 'catalog_build', 'catalog_revision', 'catalog_revision_set',
    'catalog_forgotten', 'audit_record', 'alarm_record'
  )
  and c.relkind in ('r', 'p')
  and not has_table_privilege(c.oid, needed."right")
order by 1, 2
