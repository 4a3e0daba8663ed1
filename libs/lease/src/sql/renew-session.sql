-- Extends a session that is not over, whatever the number of its terms, and says which terms were taken from it.
--
-- $1  space: whose resources its terms are about
-- $2  nonce of the session
-- $3  ttl from now on, milliseconds
-- $4  resource of each term that is reported no more
-- $5  nonce of each term that is reported no more
-- Returns  rows of live (true | false), resource and nonce of a term that was taken; both NULL in the one row where none was
--
-- As renew-leases: the row is locked first and looked at then, and a shorter ttl that comes late shortens nothing.
WITH locked AS MATERIALIZED (
  SELECT resource
  FROM :"schema".:"table"
  WHERE space = $1::text || '/session' AND resource = $2::text AND nonce IS NOT NULL AND expires_at > clock_timestamp()
  FOR NO KEY UPDATE
),
renewed AS (
  UPDATE :"schema".:"table" AS session
  SET
    ttl_ms = CASE
      WHEN session.expires_at > clock_timestamp() + $3::bigint * interval '1 millisecond'
      THEN greatest(session.ttl_ms, $3::bigint)
      ELSE $3::bigint
    END,
    expires_at = greatest(
      least(session.expires_at, clock_timestamp() + session.ttl_ms * interval '1 millisecond'),
      clock_timestamp() + $3::bigint * interval '1 millisecond'
    )
  FROM locked
  WHERE session.space = $1::text || '/session' AND session.resource = locked.resource
    AND session.nonce IS NOT NULL AND session.expires_at > clock_timestamp()
  RETURNING session.resource
),
acknowledged AS (
  UPDATE :"schema".:"table" AS taken
  SET nonce = NULL
  FROM unnest($4::text[], $5::text[]) AS term (resource, nonce)
  WHERE taken.space = $1::text || '/revoked' AND taken.resource = $2::text || ' ' || term.resource
    AND taken.nonce = term.nonce
),
revoked AS (
  SELECT substr(taken.resource, length($2::text) + 2) AS resource, taken.nonce
  FROM :"schema".:"table" AS taken
  -- All that begin with the session and a blank: '!' comes next.
  WHERE taken.space = $1::text || '/revoked'
    AND taken.resource > $2::text || ' ' COLLATE "C" AND taken.resource < $2::text || '!' COLLATE "C"
    AND taken.nonce IS NOT NULL
    AND NOT EXISTS (
      SELECT FROM unnest($4::text[], $5::text[]) AS term (resource, nonce)
      WHERE taken.resource = $2::text || ' ' || term.resource AND taken.nonce = term.nonce
    )
)
SELECT EXISTS (SELECT FROM renewed) AS live, revoked.resource, revoked.nonce
FROM (SELECT) AS always LEFT JOIN revoked ON true
