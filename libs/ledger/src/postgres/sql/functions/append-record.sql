-- Appends a record to the audit trail, unless one of the same nonce is there: its reply may have got lost.
--
-- the_space  whose trail it is
-- the_nonce  of this record
-- the_cron  what it is about, or null
-- the_run  what it is about, or null
-- the_record  JSON
-- the_keep  how many records are kept
-- Returns  the id of the record, as text
create or replace function append_record(
  the_space text, the_nonce text, the_cron text, the_run text, the_record text, the_keep bigint
) returns json
language plpgsql
set search_path from current
as $$
declare
  this catalog_state;
  known audit_record;
  at_now bigint;
begin
  insert into catalog_state (space) values (the_space) on conflict do nothing;
  select * into this from catalog_state where space = the_space for update;
  select * into known from audit_record where space = the_space and nonce = the_nonce;
  if not found then
    at_now := now_ms();
    -- Its instants go on where a clock went back.
    update catalog_state set
      audit_number = audit_number + 1, audit_at = greatest(at_now, audit_at),
      audit_n = case when at_now > audit_at then 0 else audit_n + 1 end
    where space = the_space
    returning * into this;
    insert into audit_record (space, number, at, n, nonce, cron, run_id, record)
    values (the_space, this.audit_number, this.audit_at, this.audit_n, the_nonce, the_cron, the_run, the_record)
    returning * into known;
    delete from audit_record where space = the_space and number <= this.audit_number - the_keep;
  end if;
  return to_json(known.at || '-' || known.n);
end $$;
