-- Locks a catalog for a change until the transaction ends.
--
-- the_space  whose catalog it is
-- Returns  its state as it is once it is locked
create or replace function lock_catalog(the_space text) returns catalog_state
language plpgsql
set search_path from current
as $$
declare
  this catalog_state;
begin
  perform pg_advisory_xact_lock(key_catalog(the_space));
  insert into catalog_state (space) values (the_space) on conflict do nothing;
  select * into this from catalog_state where space = the_space for update;
  return this;
end $$;
