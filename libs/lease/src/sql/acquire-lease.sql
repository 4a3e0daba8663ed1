-- Takes a lease and issues its fence in one step, or does neither.
--
-- $1  space: whose resources they are
-- $2  resource
-- $3  nonce of the term
-- $4  holder, text
-- $5  ttl, milliseconds
-- $6  floor, the highest fence known to have been accepted
-- Returns  one row of word and value: ('ACQUIRED', fence) | ('BUSY', remaining milliseconds), or none: ask again
-- Fails  with 23514 on the constraint fence_is_exact when the fence would pass 2^53 - 1; it stays free then
--
-- Who is busy is read without a lock, from the statement's snapshot: it was true when the statement began, and a hundred
-- waiting contenders leave neither a row version nor a locked row behind. No row means that the snapshot showed a free
-- resource, and another request was faster: the next snapshot shows its holder.
--
-- clock_timestamp() and never now(): this statement may wait for another one's row lock, and now() is when the waiting
-- began. It is part of the fence, so that the fence goes on increasing after the row was lost.
WITH seen AS MATERIALIZED (
  -- Which row says how long the term lasts: its own, or that of the session it names behind a blank.
  SELECT
    CASE WHEN nonce LIKE '% %' THEN $1::text || '/session' ELSE space END AS space,
    CASE WHEN nonce LIKE '% %' THEN split_part(nonce, ' ', 2) ELSE resource END AS resource,
    nonce LIKE '% %' AS in_session
  FROM :"schema".:"table"
  WHERE space = $1::text AND resource = $2::text AND nonce <> $3::text
),
held AS MATERIALIZED (
  SELECT
    timed.space, timed.resource, timed.nonce, timed.ttl_ms,
    extract(epoch FROM timed.expires_at - clock_timestamp()) * 1000 AS left_ms
  FROM seen
  JOIN :"schema".:"table" AS timed ON timed.space = seen.space AND timed.resource = seen.resource
  WHERE timed.nonce IS NOT NULL AND timed.expires_at > clock_timestamp()
),
-- More than was ever asked for: the server's clock went back. Twice leaves room for a small correction; the holder's own
-- ttl is the measure, a contender with a shorter one must not cut a healthy term.
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
  JOIN seen ON session.space = seen.space AND session.resource = seen.resource AND seen.in_session
  WHERE session.nonce IS NULL OR session.expires_at <= clock_timestamp()
  FOR SHARE OF session
),
ended AS MATERIALIZED (
  SELECT nonce FROM locked
  UNION ALL
  SELECT resource FROM seen
  WHERE in_session AND NOT EXISTS (
    SELECT FROM :"schema".:"table" AS session WHERE session.space = seen.space AND session.resource = seen.resource
  )
),
taken AS (
  INSERT INTO :"schema".:"table" AS lease (space, resource, nonce, holder, ttl_ms, acquired_at, expires_at, fence)
  SELECT
    $1::text, $2::text, $3::text, $4::text, $5::bigint, clock_timestamp(),
    clock_timestamp() + $5::bigint * interval '1 millisecond',
    greatest($6::bigint + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
  WHERE NOT EXISTS (SELECT FROM held)
  ON CONFLICT (space, resource) DO UPDATE SET
    nonce = EXCLUDED.nonce,
    holder = EXCLUDED.holder,
    -- A repeated request counts from now as well: its sender may have started the clock with the second one. It never
    -- shortens the term: renew-leases says why.
    ttl_ms = CASE
      WHEN lease.nonce = EXCLUDED.nonce
        AND lease.expires_at > clock_timestamp() + EXCLUDED.ttl_ms * interval '1 millisecond'
      THEN greatest(lease.ttl_ms, EXCLUDED.ttl_ms)
      ELSE EXCLUDED.ttl_ms
    END,
    acquired_at = CASE
      WHEN lease.nonce = EXCLUDED.nonce AND lease.expires_at > clock_timestamp() THEN lease.acquired_at
      ELSE clock_timestamp()
    END,
    expires_at = greatest(
      CASE
        WHEN lease.nonce = EXCLUDED.nonce
        THEN least(lease.expires_at, clock_timestamp() + lease.ttl_ms * interval '1 millisecond')
      END,
      clock_timestamp() + EXCLUDED.ttl_ms * interval '1 millisecond'
    ),
    fence = CASE
      WHEN lease.nonce = EXCLUDED.nonce AND lease.expires_at > clock_timestamp() THEN lease.fence
      ELSE greatest(
        lease.fence + 1, $6::bigint + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
      )
    END
  -- Decided on the row as it is once it is locked, whatever the snapshot showed.
  WHERE lease.nonce IS NULL OR lease.nonce = EXCLUDED.nonce OR CASE
    WHEN lease.nonce LIKE '% %' THEN split_part(lease.nonce, ' ', 2) IN (SELECT nonce FROM ended)
    ELSE lease.expires_at <= clock_timestamp()
  END
  RETURNING lease.fence
)
SELECT 'ACQUIRED' AS word, fence::text AS value FROM taken
UNION ALL
SELECT 'BUSY', ceil(greatest(0, CASE WHEN left_ms > 2 * ttl_ms THEN ttl_ms ELSE left_ms END))::bigint::text FROM held
