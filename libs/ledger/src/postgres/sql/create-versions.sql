-- Makes the table that says which migrations a schema has had, unless it is there.
--
-- Returns  nothing
create table if not exists ledger_version (
  version integer primary key,
  migrated_at timestamptz not null default clock_timestamp(),
  -- A hash of the functions as they were installed with it, or since.
  functions text not null
);
