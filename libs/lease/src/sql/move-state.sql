-- Moves a row from one status to another, if it still is in the status and version its reader saw.
--
-- $1  id of the row
-- $2  status it has to be in
-- $3  version it has to have
-- $4  status it gets
-- :set  further assignments, each after a comma, with values from $5 on
-- Returns  one row of won (the new version, or NULL), status and version as found; no row where there is none
--
-- The row is locked first. A loser that has waited for the winner thereby finds what the winner wrote; the statement's
-- snapshot would still show it the status it expected. What was found has names that no column has, or the caller's
-- assignments could not name their own row's.
WITH found AS MATERIALIZED (
  SELECT this.:"id" AS "found id", this.:"status" AS "found status", this.:"version" AS "found version"
  FROM :"schema".:"table" AS this
  WHERE this.:"id" = $1
  FOR NO KEY UPDATE
),
moved AS (
  UPDATE :"schema".:"table" AS this
  SET :"status" = $4, :"version" = this.:"version" + 1:set
  FROM found
  WHERE this.:"id" = found."found id"
    AND this.:"status" = $2
    AND this.:"version" = $3
  RETURNING this.:"version" AS version
)
SELECT
  (SELECT version::text FROM moved) AS won,
  found."found status"::text AS status,
  found."found version"::text AS version
FROM found
