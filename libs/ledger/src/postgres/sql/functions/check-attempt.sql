-- Says whether an attempt is the one that may change its run: the one place where its fence is compared.
--
-- this  the run
-- proof  with a fence and a nonce
-- Returns  true or false, never null
create or replace function check_attempt(this run, proof jsonb) returns boolean
language sql stable
as $$
  select coalesce(
    this.state = 'running' and this.fence = (proof ->> 'fence')::bigint and this.nonce = proof ->> 'nonce', false)
$$;
