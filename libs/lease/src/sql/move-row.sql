-- Moves a row from one status to another, if it still is in the status and version its reader saw. For MySQL, MariaDB and
-- SQLite; move-state is the same for PostgreSQL.
--
-- :table  with its schema where it has one
-- :set  further assignments, each with a comma behind it, with their values first
-- ?  status it gets, id of the row, status it has to be in, version it has to have
-- Returns  nothing; one row is changed, or none
--
-- The caller's assignments stand in front: MySQL assigns from left to right, and they are about the row as it was.
UPDATE :table SET :set:"status" = ?, :"version" = :"version" + 1 WHERE :"id" = ? AND :"status" = ? AND :"version" = ?
