-- Waits for the change of the catalog that is being made, and keeps the next one away until the transaction ends.
--
-- the_space  whose catalog it is
-- Returns  nothing
--
-- A reader tells until when its reading holds. A change that was accepted before that moment and committed after the reading
-- would be effective too early for it. The advisory lock writes nothing, unlike a lock of the row; but above READ COMMITTED the
-- statement does not see what it has waited for, and only the row's lock makes it fail, so that it is sent again.
create or replace function share_catalog(the_space text) returns void
language plpgsql
set search_path from current
as $$
begin
  if current_setting('transaction_isolation') = 'read committed' then
    perform pg_advisory_xact_lock_shared(key_catalog(the_space));
  else
    perform 1 from catalog_state where space = the_space for share;
  end if;
end $$;
