-- Creates the table of leases if it doesn't exist. By hand: psql -1 -v schema=fencepost -v table=leases -f <this file>
--
-- Returns  nothing
--
-- Sent as one simple query, which is one transaction. IF NOT EXISTS alone isn't enough when ten processes start at once:
-- two that both found nothing both create, and one of them fails.
SELECT pg_advisory_xact_lock(7310579598273);

CREATE SCHEMA IF NOT EXISTS :"schema";

-- The collation is bytes: an index in a language's order is broken by an update of the system's locale, and a row that an
-- index doesn't find is a second holder. A fourth of each page stays free, so that a renewal finds room beside the row
-- it replaces and touches no index.
--
-- Sessions, and what was taken from them, are rows beside those of the leases, in the spaces '<space>/session' and
-- '<space>/revoked'.
CREATE TABLE IF NOT EXISTS :"schema".:"table" (
  space text COLLATE "C" NOT NULL,
  resource text COLLATE "C" NOT NULL,
  -- The highest one issued. It outlives every term; a client can't represent a number above 2^53 - 1 exactly.
  fence bigint NOT NULL CONSTRAINT fence_is_exact CHECK (fence BETWEEN 1 AND 9007199254740991),
  -- NULL from here on: it is free. Behind a blank, which no nonce has, the session that the term lives as long as.
  nonce text COLLATE "C",
  holder text,
  ttl_ms bigint,
  -- When the term began.
  acquired_at timestamptz,
  expires_at timestamptz,
  PRIMARY KEY (space, resource)
) WITH (fillfactor = 75);

COMMENT ON TABLE :"schema".:"table" IS 'fencepost leases v1';
