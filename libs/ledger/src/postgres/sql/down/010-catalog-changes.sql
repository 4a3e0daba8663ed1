-- Takes the changes away: every reader reads the whole catalog at its next change.
drop table catalog_change;
