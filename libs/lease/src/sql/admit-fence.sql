-- Remembers the highest fence of a resource, and says which one that is.
--
-- $1  resource
-- $2  fence that asks to be admitted
-- Returns  one row of fence, the highest one seen; a larger one than was asked for means that it is refused
--
-- Written in every case, equal or not: in the caller's transaction the row stays locked until the commit, so that no newer
-- holder comes between the admission and the write.
INSERT INTO :"schema".:"table" AS gate (resource, fence) VALUES ($1::text, $2::bigint)
ON CONFLICT (resource) DO UPDATE SET fence = greatest(gate.fence, EXCLUDED.fence)
RETURNING fence::text AS fence
