-- Says whether an attempt is the one that may change its run: the one place where its fence is compared.
--
-- this  the run
-- the_fence  of the attempt
-- the_nonce  of its begin
-- Returns  true or false, never null
create or replace function is_current(this run, the_fence bigint, the_nonce text) returns boolean
language sql stable
as $$
  select coalesce(this.state = 'running' and this.fence = the_fence and this.nonce = the_nonce, false)
$$;
