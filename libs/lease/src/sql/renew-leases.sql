-- Extends the terms that are still the current ones, shortens none, and creates none. None of a session: no nonce that is
-- asked for has a blank, and theirs have.
--
-- $1  space: whose resources they are
-- $2  resource of each term
-- $3  nonce of each term
-- $4  ttl from now on, milliseconds
-- Returns  for each term in order one row of done: true | false
--
-- The rows are locked in the order of their names before any is written: two batches that name them in different orders
-- would otherwise wait for each other, and the server would end one of them.
--
-- A renewal with a shorter ttl may come late, after a longer one that the holder trusts: the end stays then, with the ttl it
-- was counted with. More than that ttl is only left when the server's clock went back.
WITH asked AS (
  SELECT resource, nonce, place FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS terms (resource, nonce, place)
),
locked AS MATERIALIZED (
  SELECT lease.resource, lease.nonce
  FROM :"schema".:"table" AS lease
  JOIN asked ON lease.resource = asked.resource AND lease.nonce = asked.nonce
  WHERE lease.space = $1::text AND lease.expires_at > clock_timestamp()
  ORDER BY lease.resource
  FOR NO KEY UPDATE OF lease
),
renewed AS (
  UPDATE :"schema".:"table" AS lease
  SET
    ttl_ms = CASE
      WHEN lease.expires_at > clock_timestamp() + $4::bigint * interval '1 millisecond'
      THEN greatest(lease.ttl_ms, $4::bigint)
      ELSE $4::bigint
    END,
    expires_at = greatest(
      least(lease.expires_at, clock_timestamp() + lease.ttl_ms * interval '1 millisecond'),
      clock_timestamp() + $4::bigint * interval '1 millisecond'
    )
  FROM locked
  WHERE lease.space = $1::text AND lease.resource = locked.resource AND lease.nonce = locked.nonce
    AND lease.expires_at > clock_timestamp()
  RETURNING lease.resource, lease.nonce
)
SELECT renewed.resource IS NOT NULL AS done
FROM asked LEFT JOIN renewed ON renewed.resource = asked.resource AND renewed.nonce = asked.nonce
ORDER BY asked.place
