-- Creates the table of a fence gate if it doesn't exist. By hand: psql -1 -v schema=fencepost -v table=fences -f <this file>
--
-- Returns  nothing
--
-- Sent as one simple query, which is one transaction; the lock is the one of create-lease-table, because both may create
-- the schema.
SELECT pg_advisory_xact_lock(7310579598273);

CREATE SCHEMA IF NOT EXISTS :"schema";

CREATE TABLE IF NOT EXISTS :"schema".:"table" (
  resource text COLLATE "C" PRIMARY KEY,
  -- The highest one admitted.
  fence bigint NOT NULL CONSTRAINT fence_is_exact CHECK (fence BETWEEN 1 AND 9007199254740991)
) WITH (fillfactor = 75);

COMMENT ON TABLE :"schema".:"table" IS 'fencepost fences v1';
