-- Takes over a catalog that was kept in Redis, with its audit trail and its alarms, unless this one has ever accepted anything.
--
-- the_space  whose catalog it is
-- the_found  {version, bornAt, crons: [{name, lines, declared, deleteAt}], builds: [{app, seq}], revisions: [{app, record}],
--            sets: [{app, order, names}], records: [{id, nonce, cron, runId, record}], alarms: [{cron, record}]}; lines as
--            read_catalog has them, the records oldest first
-- Returns  how many crons were taken over; null where nothing was
--
-- A record that cannot be read is left behind: no pod fired it, and code that declares it brings it back.
create or replace function adopt_catalog(the_space text, the_found jsonb) returns json
language plpgsql
set search_path from current
as $$
declare
  this catalog_state := lock_catalog(the_space);
begin
  if this.version > 0 or this.audit_number > 0 then return 'null'; end if;
  insert into catalog_generation (space, cron, generation, renumbered_at, since, state, nonce, who, definition)
  select the_space, one->>'name', split_part(field[1], '@', 1)::bigint, nullif(split_part(field[1], '@', 2), '')::bigint,
    field[2]::bigint, field[3], field[4], field[5], field[6]
  from jsonb_array_elements(the_found->'crons') as one,
    unnest(string_to_array(one->>'lines', e'\n')) as line, string_to_array(line, e'\t') as field
  where line ~ '^\d{1,16}(@\d{1,16})?\t\d{1,16}\t[a-z]+\t[^\t]*\t[^\t]+\t[^\t]+$'
  on conflict do nothing;
  insert into catalog_cron (space, name, seq, hash, standing, source, delete_at)
  select the_space, one->>'name', known[1]::bigint, known[2], known[3], known[4], (one->>'deleteAt')::bigint
  from jsonb_array_elements(the_found->'crons') as one,
    regexp_match(one->>'declared', '^(\d{1,16}) (\S+) (live|dropped|removed) ([^\t]*)') as known
  where known is not null and exists (
    select from catalog_generation where space = the_space and cron = one->>'name'
  );
  -- A cron without its declaration counts as made at run time.
  insert into catalog_cron (space, name)
  select distinct the_space, cron from catalog_generation where space = the_space on conflict do nothing;
  -- An app may have enrolled here before anything was declared. The crons from Redis refer to the numbers in Redis.
  insert into catalog_build as highest (space, source, seq)
  select the_space, one->>'app', (one->>'seq')::bigint from jsonb_array_elements(the_found->'builds') as one
  on conflict (space, source) do update set seq = greatest(excluded.seq, highest.seq);
  insert into catalog_revision (space, app, record)
  select the_space, one->>'app', one->>'record' from jsonb_array_elements(the_found->'revisions') as one
  on conflict (space, app) do update set record = excluded.record;
  insert into catalog_revision_set (space, app, seq, names)
  select the_space, one->>'app', (one->>'order')::bigint, one->>'names'
  from jsonb_array_elements(the_found->'sets') as one
  on conflict (space, app, seq) do update set names = excluded.names;
  insert into alarm_record (space, cron, record)
  select the_space, one->>'cron', one->>'record' from jsonb_array_elements(the_found->'alarms') as one;
  insert into audit_record (space, number, at, n, nonce, cron, run_id, record)
  select the_space, place, split_part(one->>'id', '-', 1)::bigint, split_part(one->>'id', '-', 2)::bigint, one->>'nonce',
    one->>'cron', one->>'runId', one->>'record'
  from jsonb_array_elements(the_found->'records') with ordinality as kept (one, place);
  update catalog_state set
    audit_number = coalesce(newest.number, 0), audit_at = coalesce(newest.at, 0), audit_n = coalesce(newest.n, 0)
  from (select 1) as always left join (
    select number, at, n from audit_record where space = the_space order by number desc limit 1
  ) as newest on true
  where space = the_space;
  -- Never below the version in Redis: a pod may know that one.
  update catalog_state set version = (the_found->>'version')::bigint, born_at = (the_found->>'bornAt')::bigint
  where space = the_space;
  perform advance_catalog(the_space, now_ms(), '{}');
  return to_json((select count(*) from catalog_cron where space = the_space));
end $$;
