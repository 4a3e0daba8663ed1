-- Ends the term that has exactly this fence, for any holder, and announces its end.
--
-- $1  space: whose resource it is
-- $2  resource
-- $3  fence of the term that is to end
-- $4  channel of the announcements
-- Returns  one row where it was ended, none where it was over
--
-- A fence names one term for ever, so asking again can't end a successor. The row stays, with its fence.
UPDATE :"schema".:"table" AS lease
SET nonce = NULL, holder = NULL, ttl_ms = NULL, acquired_at = NULL, expires_at = NULL
WHERE lease.space = $1::text AND lease.resource = $2::text AND lease.fence = $3::bigint
  AND lease.nonce IS NOT NULL AND lease.expires_at > clock_timestamp()
RETURNING lease.resource, pg_notify($4::text, lease.resource)
