-- Takes each lease that is free for a session and issues its fence in one step, or does neither.
--
-- $1  space: whose resources they are
-- $2  nonce of the session
-- $3  resource of each request
-- $4  nonce of each request
-- $5  floor of each request, the highest fence known to have been accepted
-- Returns  rows of place (from 0), word and value: ('ACQUIRED', fence) | ('BUSY', remaining milliseconds); a place without
--          a row asks again. One row of 'OVER' alone when the session is over; nothing was taken then
-- Fails  with 23514 on the constraint fence_is_exact when a fence would pass 2^53 - 1; nothing was taken then
--
-- As in acquire-lease, a busy resource is neither written nor locked. Rows are locked in the order of their names: two
-- batches that name them in different orders would otherwise wait for each other.
--
-- expires_at is when the session would end without a renewal. Only a build that knows no sessions goes by it: it takes the
-- term for one that is never renewed, so that a return to that build finds nothing held for ever.
WITH own AS MATERIALIZED (
  SELECT resource AS nonce, holder, expires_at
  FROM :"schema".:"table"
  WHERE space = $1::text || '/session' AND resource = $2::text AND nonce IS NOT NULL AND expires_at > clock_timestamp()
),
asked AS MATERIALIZED (
  -- A resource may stand in the batch twice; the first request is tried, the other one sees what became of it.
  SELECT
    request.resource, request.nonce || ' ' || own.nonce AS nonce, request.floor, request.place,
    row_number() OVER (PARTITION BY request.resource ORDER BY request.place) = 1 AS is_first
  FROM own, unnest($3::text[], $4::text[], $5::bigint[]) WITH ORDINALITY AS request (resource, nonce, floor, place)
),
seen AS MATERIALIZED (
  SELECT
    asked.*, lease.nonce AS current, lease.fence, lease.nonce LIKE '% %' AS in_session,
    CASE WHEN lease.nonce LIKE '% %' THEN $1::text || '/session' ELSE lease.space END AS timed_space,
    CASE WHEN lease.nonce LIKE '% %' THEN split_part(lease.nonce, ' ', 2) ELSE lease.resource END AS timed_resource
  FROM asked
  LEFT JOIN :"schema".:"table" AS lease
    ON lease.space = $1::text AND lease.resource = asked.resource AND lease.nonce IS NOT NULL
),
held AS MATERIALIZED (
  SELECT
    seen.place, timed.space, timed.resource, timed.nonce, timed.ttl_ms,
    extract(epoch FROM timed.expires_at - clock_timestamp()) * 1000 AS left_ms
  FROM seen
  JOIN :"schema".:"table" AS timed ON timed.space = seen.timed_space AND timed.resource = seen.timed_resource
  WHERE timed.nonce IS NOT NULL AND timed.expires_at > clock_timestamp()
),
-- A clock that went back, as in acquire-lease.
cut AS (
  UPDATE :"schema".:"table" AS lease
  SET expires_at = clock_timestamp() + lease.ttl_ms * interval '1 millisecond'
  FROM held
  WHERE lease.space = held.space AND lease.resource = held.resource AND lease.nonce = held.nonce
    AND held.left_ms > 2 * held.ttl_ms
    AND extract(epoch FROM lease.expires_at - clock_timestamp()) * 1000 > 2 * lease.ttl_ms
),
-- A session that seems to be over is locked, so that a renewal under way comes first. One that is over never comes back.
locked AS MATERIALIZED (
  SELECT session.resource AS nonce
  FROM :"schema".:"table" AS session
  WHERE session.space = $1::text || '/session'
    AND session.resource IN (SELECT timed_resource FROM seen WHERE in_session)
    AND (session.nonce IS NULL OR session.expires_at <= clock_timestamp())
  ORDER BY session.resource
  FOR SHARE OF session
),
ended AS MATERIALIZED (
  SELECT nonce FROM locked
  UNION ALL
  SELECT timed_resource FROM seen
  WHERE in_session AND NOT EXISTS (
    SELECT FROM :"schema".:"table" AS session
    WHERE session.space = seen.timed_space AND session.resource = seen.timed_resource
  )
),
taken AS (
  INSERT INTO :"schema".:"table" AS lease (space, resource, nonce, holder, acquired_at, expires_at, fence)
  SELECT
    $1::text, seen.resource, seen.nonce, own.holder, clock_timestamp(), own.expires_at,
    greatest(seen.floor + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
  FROM seen, own
  WHERE seen.is_first AND NOT EXISTS (SELECT FROM held WHERE held.place = seen.place)
  ORDER BY seen.resource
  ON CONFLICT (space, resource) DO UPDATE SET
    nonce = EXCLUDED.nonce,
    holder = EXCLUDED.holder,
    ttl_ms = NULL,
    acquired_at = CASE WHEN lease.nonce = EXCLUDED.nonce THEN lease.acquired_at ELSE EXCLUDED.acquired_at END,
    expires_at = EXCLUDED.expires_at,
    fence = CASE
      WHEN lease.nonce = EXCLUDED.nonce THEN lease.fence
      ELSE greatest(lease.fence + 1, EXCLUDED.fence)
    END
  -- Decided on the row as it is once it is locked, whatever the snapshot showed.
  WHERE lease.nonce IS NULL OR lease.nonce = EXCLUDED.nonce OR CASE
    WHEN lease.nonce LIKE '% %' THEN split_part(lease.nonce, ' ', 2) IN (SELECT nonce FROM ended)
    ELSE lease.expires_at <= clock_timestamp()
  END
  RETURNING lease.resource, lease.nonce, lease.fence
)
SELECT (seen.place - 1)::integer AS place, 'ACQUIRED' AS word, taken.fence::text AS value
FROM seen JOIN taken ON taken.resource = seen.resource AND taken.nonce = seen.nonce
UNION ALL
SELECT
  (seen.place - 1)::integer,
  CASE WHEN seen.current = seen.nonce THEN 'ACQUIRED' ELSE 'BUSY' END,
  CASE
    WHEN seen.current = seen.nonce THEN seen.fence
    ELSE ceil(greatest(0, CASE WHEN held.left_ms > 2 * held.ttl_ms THEN held.ttl_ms ELSE held.left_ms END))::bigint
  END::text
FROM seen JOIN held ON held.place = seen.place
UNION ALL
SELECT NULL, 'OVER', NULL WHERE NOT EXISTS (SELECT FROM own)
