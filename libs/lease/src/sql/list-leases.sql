-- Looks at some resources in the order of their names, and shows which of them are held; changes nothing.
--
-- $1  space: whose resources they are
-- $2  resource they come after, '' for the first
-- $3  how many to look at, held or not
-- Returns  for each in order one row of resource, holder, fence, remaining milliseconds and since (when the term began,
--          epoch milliseconds), all but the first NULL where it is free
--
-- Free ones count as well: a table of a million of them is not read at once because three are held.
WITH looked AS MATERIALIZED (
  SELECT space, resource, nonce, holder, fence, expires_at, acquired_at
  FROM :"schema".:"table"
  WHERE space = $1::text AND resource > $2::text COLLATE "C"
  ORDER BY resource
  LIMIT $3::integer
)
SELECT
  looked.resource,
  held.holder,
  held.fence::text AS fence,
  ceil(greatest(0, extract(epoch FROM held.expires_at - clock_timestamp()) * 1000))::bigint::text AS remaining,
  floor(extract(epoch FROM held.acquired_at) * 1000)::bigint::text AS since
FROM looked
LEFT JOIN LATERAL (
  SELECT looked.holder, looked.fence, looked.acquired_at, timed.expires_at
  FROM :"schema".:"table" AS timed
  WHERE timed.space = CASE WHEN looked.nonce LIKE '% %' THEN $1::text || '/session' ELSE looked.space END
    AND timed.resource = CASE WHEN looked.nonce LIKE '% %' THEN split_part(looked.nonce, ' ', 2) ELSE looked.resource END
    AND looked.nonce IS NOT NULL AND timed.nonce IS NOT NULL AND timed.expires_at > clock_timestamp()
) AS held ON true
ORDER BY looked.resource
