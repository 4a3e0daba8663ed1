-- Says of an attempt that proves itself as JSON whether it is the one that may change its run.
--
-- this  the run
-- proof  with a fence and a nonce
-- Returns  true or false, never null
create or replace function check_attempt(this run, proof jsonb) returns boolean
language sql stable
as $$
  select is_current(this, (proof ->> 'fence')::bigint, proof ->> 'nonce')
$$;
