-- Shows a run to the worker that has begun it, with the record as it is from now on.
--
-- this  the run
-- Returns  {verdict: begun, fence, attempt, run}
create or replace function describe_begun(this run) returns jsonb
language sql stable
as $$
  select jsonb_build_object('verdict', 'begun', 'fence', this.fence::text, 'attempt', this.attempt,
    'run', describe_run(this))
$$;
