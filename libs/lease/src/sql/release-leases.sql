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
  SELECT lease.resource, lease.nonce, asked.nonce AS term, split_part(lease.nonce, ' ', 2) AS session
  FROM :"schema".:"table" AS lease
  -- The nonce of a term in a session stands in front of a blank, and the session behind it.
  JOIN asked ON lease.resource = asked.resource AND split_part(lease.nonce, ' ', 1) = asked.nonce AND asked.is_first
  WHERE lease.space = $1::text
  ORDER BY lease.resource
  FOR NO KEY UPDATE OF lease
),
released AS (
  UPDATE :"schema".:"table" AS lease
  SET nonce = NULL, holder = NULL, ttl_ms = NULL, acquired_at = NULL, expires_at = NULL
  FROM locked
  WHERE lease.space = $1::text AND lease.resource = locked.resource AND lease.nonce = locked.nonce AND CASE
    WHEN locked.session <> '' THEN EXISTS (
      SELECT FROM :"schema".:"table" AS session
      WHERE session.space = $1::text || '/session' AND session.resource = locked.session
        AND session.nonce IS NOT NULL AND session.expires_at > clock_timestamp()
    )
    ELSE lease.expires_at > clock_timestamp()
  END
  RETURNING lease.resource, locked.term, pg_notify($4::text, lease.resource)
)
SELECT released.resource IS NOT NULL AS done
FROM asked LEFT JOIN released
  ON asked.is_first AND released.resource = asked.resource AND released.term = asked.nonce
ORDER BY asked.place
