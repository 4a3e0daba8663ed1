-- Ends a session with all its terms, and announces that any resource may be free.
--
-- $1  space: whose resources its terms are about
-- $2  nonce of the session
-- $3  channel of the announcements
-- $4  what is announced
-- Returns  one row where it was ended, none where it was over
--
-- The rows of its terms stay as they are: they name a session that is over.
UPDATE :"schema".:"table" AS session
SET nonce = NULL, expires_at = clock_timestamp()
WHERE session.space = $1::text || '/session' AND session.resource = $2::text
  AND session.nonce IS NOT NULL AND session.expires_at > clock_timestamp()
RETURNING session.resource, pg_notify($3::text, $4::text)
