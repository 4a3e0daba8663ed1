-- Makes the table that says which migrations a schema has had, unless it is there.
--
-- Returns  nothing
create table if not exists ledger_version (
  version integer primary key,
  migrated_at timestamptz not null default clock_timestamp(),
  -- What builds up to version 6 compare. Now a function's name says which build it belongs to.
  functions text not null
);
