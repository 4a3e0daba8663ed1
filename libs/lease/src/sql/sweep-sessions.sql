-- Deletes what sessions that ended long ago have left behind.
--
-- $1  space: whose resources their terms were about
-- Returns  nothing
--
-- A day is longer than any request to open one of them can be under way. Sessions are as few as processes.
WITH swept AS (
  DELETE FROM :"schema".:"table" AS session
  WHERE session.space = $1::text || '/session' AND session.expires_at < clock_timestamp() - interval '1 day'
)
DELETE FROM :"schema".:"table" AS taken
WHERE taken.space = $1::text || '/revoked' AND NOT EXISTS (
  SELECT FROM :"schema".:"table" AS session
  WHERE session.space = $1::text || '/session' AND session.resource = split_part(taken.resource, ' ', 1)
)
