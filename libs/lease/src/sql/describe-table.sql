-- Says what a table was made for.
--
-- $1  the table, quoted as in a statement
-- Returns  one row of there (true | false) and comment (NULL without one)
SELECT to_regclass($1::text) IS NOT NULL AS there, obj_description(to_regclass($1::text), 'pg_class') AS comment
