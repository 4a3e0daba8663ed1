-- Hands out the records of the audit trail that no call has been given yet. The first call ever begins at the end of the trail.
--
-- the_space  whose trail it is
-- the_most  how many at most
-- the_nonce  of this call; the same again is given the same records, if it was the last one that was given any
-- Returns  a list of {id, record}, the oldest first, the record as JSON text
create or replace function take_records(the_space text, the_most bigint, the_nonce text) returns json
language plpgsql
set search_path from current
as $$
declare
  this catalog_state;
  through bigint;
begin
  -- Mostly there is nothing, and nobody waits for a lock to hear it.
  if exists (
    select from catalog_state
    where space = the_space and audit_taken = audit_number and audit_taken_nonce is distinct from the_nonce
  ) then return '[]'; end if;
  insert into catalog_state (space) values (the_space) on conflict do nothing;
  select * into this from catalog_state where space = the_space for update;
  if this.audit_taken is null then
    update catalog_state set audit_taken = audit_number where space = the_space;
    return '[]';
  end if;
  if this.audit_taken_nonce is distinct from the_nonce then
    select max(number) into through from (
      select number from audit_record where space = the_space and number > this.audit_taken order by number limit the_most
    ) as next;
    if through is null then return '[]'; end if;
    update catalog_state set audit_taken = through, audit_taken_from = this.audit_taken, audit_taken_nonce = the_nonce
    where space = the_space
    returning * into this;
  end if;
  return (
    select coalesce(json_agg(json_build_object('id', at || '-' || n, 'record', record) order by number), '[]')
    from audit_record where space = the_space and number > this.audit_taken_from and number <= this.audit_taken
  );
end $$;
