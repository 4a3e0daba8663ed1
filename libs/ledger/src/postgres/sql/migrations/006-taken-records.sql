-- How far the audit trail has been handed to pods, each record to one: its number, null before the first of them asked; and
-- the last of these calls, whose reply may have got lost.
alter table catalog_state
  add column audit_taken bigint,
  add column audit_taken_from bigint not null default 0,
  add column audit_taken_nonce text;
