-- Reads the holder of each resource and its remaining time; changes nothing.
--
-- $1  space: whose resources they are
-- $2  resources
-- Returns  for each resource in order one row of holder, fence, remaining milliseconds and since (when the term began,
--          epoch milliseconds), all NULL where it is free
SELECT
  lease.holder,
  lease.fence::text AS fence,
  ceil(greatest(0, extract(epoch FROM lease.expires_at - clock_timestamp()) * 1000))::bigint::text AS remaining,
  floor(extract(epoch FROM lease.acquired_at) * 1000)::bigint::text AS since
FROM unnest($2::text[]) WITH ORDINALITY AS asked (resource, place)
LEFT JOIN :"schema".:"table" AS lease
  ON lease.space = $1::text AND lease.resource = asked.resource
  AND lease.nonce IS NOT NULL AND lease.expires_at > clock_timestamp()
ORDER BY asked.place
