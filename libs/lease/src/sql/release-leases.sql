-- Ends the terms that are still the current ones, and announces each end.
--
-- $1  space: whose resources they are
-- $2  resource of each term
-- $3  nonce of each term
-- $4  channel of the announcements
-- Returns  for each term in order one row of done: true | false
--
-- The row stays, with its fence: that has to outlive every term. Rows are locked in the order of their names, as in
-- renew-leases. What is announced is heard at the commit, and transactions that announce commit one after the other in the
-- whole server: nothing that is asked often should do it.
WITH asked AS (
  -- A term may stand in the batch twice, and ends once.
  SELECT resource, nonce, place, row_number() OVER (PARTITION BY resource, nonce ORDER BY place) = 1 AS is_first
  FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS terms (resource, nonce, place)
),
locked AS MATERIALIZED (
  SELECT lease.resource, lease.nonce
  FROM :"schema".:"table" AS lease
  JOIN asked ON lease.resource = asked.resource AND lease.nonce = asked.nonce AND asked.is_first
  WHERE lease.space = $1::text AND lease.expires_at > clock_timestamp()
  ORDER BY lease.resource
  FOR NO KEY UPDATE OF lease
),
released AS (
  UPDATE :"schema".:"table" AS lease
  SET nonce = NULL, holder = NULL, ttl_ms = NULL, acquired_at = NULL, expires_at = NULL
  FROM locked
  WHERE lease.space = $1::text AND lease.resource = locked.resource AND lease.nonce = locked.nonce
    AND lease.expires_at > clock_timestamp()
  RETURNING lease.resource, locked.nonce, pg_notify($4::text, lease.resource)
)
SELECT released.resource IS NOT NULL AS done
FROM asked LEFT JOIN released
  ON asked.is_first AND released.resource = asked.resource AND released.nonce = asked.nonce
ORDER BY asked.place
