-- Checks what the engine relies on in a definition; see catalog-record.ts.
--
-- the_cron  its name
-- the_generation  a generation of it
-- Returns  whether it can be read
create or replace function check_definition(the_cron text, the_generation catalog_generation) returns boolean
language plpgsql immutable
as $$
declare
  definition jsonb;
begin
  perform the_generation.who::jsonb;
  definition := the_generation.definition::jsonb;
  return coalesce(definition->>'name', '') = the_cron
    and (select bool_and(coalesce(jsonb_typeof(definition->option), '') = 'string')
      from unnest(array['expression', 'timeZone', 'misfire', 'overlap']) as option)
    and coalesce(jsonb_typeof(definition->'graceMs'), '') = 'number'
    and coalesce(jsonb_typeof(definition->'catchUpWindowMs'), '') in ('number', 'null');
exception
  when others then return false;
end $$;
