-- Ends the term that has exactly this fence, for any holder, and announces its end.
--
-- $1  space: whose resource it is
-- $2  resource
-- $3  fence of the term that is to end
-- $4  channel of the announcements
-- Returns  one row where it was ended, none where it was over
--
-- A fence names one term for ever, so asking again can't end a successor. The row stays, with its fence. What is taken from
-- a session is noted for its next renewal.
WITH locked AS MATERIALIZED (
  SELECT lease.resource, lease.nonce, lease.fence, split_part(lease.nonce, ' ', 2) AS session
  FROM :"schema".:"table" AS lease
  WHERE lease.space = $1::text AND lease.resource = $2::text AND lease.fence = $3::bigint AND lease.nonce IS NOT NULL
  FOR NO KEY UPDATE OF lease
),
ended AS (
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
  RETURNING lease.resource, locked.nonce, locked.fence, locked.session, pg_notify($4::text, lease.resource)
),
noted AS (
  INSERT INTO :"schema".:"table" AS taken (space, resource, nonce, fence)
  SELECT $1::text || '/revoked', session || ' ' || resource, split_part(nonce, ' ', 1), fence
  FROM ended WHERE session <> ''
  ON CONFLICT (space, resource) DO UPDATE SET nonce = EXCLUDED.nonce, fence = EXCLUDED.fence
)
SELECT resource FROM ended
