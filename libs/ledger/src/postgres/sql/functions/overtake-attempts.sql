-- Keeps transactions of earlier attempts from committing: waits for one that is committing, and makes the others fail.
--
-- the_space  deployment and tenant
-- the_run  its id
-- Returns  nothing
--
-- A transaction above READ COMMITTED sees the run as it was when it began, and would fail at every heartbeat if it locked
-- its row. What it locks instead is the row that says it was allowed to begin, which is written again only here.
create or replace function overtake_attempts(the_space text, the_run text) returns void
language plpgsql set search_path from current
as $$
begin
  update effect_begun set nonce = nonce where space = the_space and run_id = the_run;
end
$$;
