-- The store's clock in milliseconds: the only "now" that decides, because pods disagree about theirs.
--
-- Returns  epoch milliseconds
--
-- It goes on within a transaction, also while that waits for a lock: to be read once the row of the cron is locked.
create or replace function now_ms() returns bigint
language sql volatile
as $$ select floor(extract(epoch from clock_timestamp()) * 1000)::bigint $$;
