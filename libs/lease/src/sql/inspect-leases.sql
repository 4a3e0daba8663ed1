-- Reads the holder of each resource and its remaining time; changes nothing.
--
-- $1  space: whose resources they are
-- $2  resources
-- Returns  for each resource in order one row of holder, fence, remaining milliseconds and since (when the term began,
--          epoch milliseconds), all NULL where it is free
--
-- How long a term lasts is in its own row, or in that of the session it names behind a blank.
SELECT
  held.holder,
  held.fence::text AS fence,
  ceil(greatest(0, extract(epoch FROM held.expires_at - clock_timestamp()) * 1000))::bigint::text AS remaining,
  floor(extract(epoch FROM held.acquired_at) * 1000)::bigint::text AS since
FROM unnest($2::text[]) WITH ORDINALITY AS asked (resource, place)
LEFT JOIN LATERAL (
  SELECT lease.holder, lease.fence, lease.acquired_at, timed.expires_at
  FROM :"schema".:"table" AS lease
  JOIN :"schema".:"table" AS timed
    ON timed.space = CASE WHEN lease.nonce LIKE '% %' THEN $1::text || '/session' ELSE lease.space END
    AND timed.resource = CASE WHEN lease.nonce LIKE '% %' THEN split_part(lease.nonce, ' ', 2) ELSE lease.resource END
  WHERE lease.space = $1::text AND lease.resource = asked.resource AND lease.nonce IS NOT NULL
    AND timed.nonce IS NOT NULL AND timed.expires_at > clock_timestamp()
) AS held ON true
ORDER BY asked.place
