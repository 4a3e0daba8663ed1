-- Finds the status and version of a row that move-row did not move. For MySQL, MariaDB and SQLite.
--
-- :table  with its schema where it has one
-- :lock  how the row is locked, or nothing
-- ?  id of the row
-- Returns  one row of status and version, or none
SELECT :"status" AS status, :"version" AS version FROM :table WHERE :"id" = ?:lock
