-- Opens a session, or extends one that is open.
--
-- $1  space: whose resources its terms are about
-- $2  nonce of the session
-- $3  holder, text
-- $4  ttl from now on, milliseconds
-- Returns  nothing
--
-- A session is a row of the same table, in a space beside that of the leases, so a table of an earlier build is enough. One
-- that was closed or has expired stays so: its terms may be somebody else's by now.
INSERT INTO :"schema".:"table" AS session (space, resource, nonce, holder, ttl_ms, acquired_at, expires_at, fence)
VALUES (
  $1::text || '/session', $2::text, $2::text, $3::text, $4::bigint, clock_timestamp(),
  clock_timestamp() + $4::bigint * interval '1 millisecond', 1
)
ON CONFLICT (space, resource) DO UPDATE SET
  ttl_ms = greatest(session.ttl_ms, EXCLUDED.ttl_ms),
  expires_at = greatest(
    least(session.expires_at, clock_timestamp() + session.ttl_ms * interval '1 millisecond'),
    clock_timestamp() + EXCLUDED.ttl_ms * interval '1 millisecond'
  )
WHERE session.nonce IS NOT NULL AND session.expires_at > clock_timestamp()
