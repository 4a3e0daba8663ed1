-- Ends the session of the term that has exactly this fence, for any holder, and announces that any resource may be free.
--
-- $1  space: whose resource it is
-- $2  resource
-- $3  fence of the term
-- $4  channel of the announcements
-- $5  what is announced
-- Returns  one row where it was ended, none where there is no such term, or it has no session
UPDATE :"schema".:"table" AS session
SET nonce = NULL, expires_at = clock_timestamp()
FROM :"schema".:"table" AS lease
WHERE lease.space = $1::text AND lease.resource = $2::text AND lease.fence = $3::bigint AND lease.nonce LIKE '% %'
  AND session.space = $1::text || '/session' AND session.resource = split_part(lease.nonce, ' ', 2)
  AND session.nonce IS NOT NULL AND session.expires_at > clock_timestamp()
RETURNING session.resource, pg_notify($4::text, $5::text)
