-- Shows a run to the worker that has begun it, with the record as it is from now on.
--
-- this  the run
-- Returns  [words, claimedBy, error, by, payload, handler, cancelBy]; words: one text of what has no spaces in it, with one
--            between two, empty where there is none. begun-run-codec.ts has their order
--
-- Without what the worker knows and what a run that goes on never has, and without names: those cost more than to begin it.
create or replace function describe_begun(this run) returns json
language sql stable
as $$
  select json_build_array(
    concat(this.fence, ' ', this.attempt, ' ', this.started_at, ' ', this.attempted_at, ' ', this.not_before, ' ',
      this.scheduled_at, ' ', this.due_at, ' ', this.reason, ' ',
      case when this.missed_count is not null then concat(this.missed_count, ',', this.missed_from, ',', this.missed_to) end,
      ' ', this.generation, ' ', this.claim_fence, ' ', this.claimed_at, ' ', this.enqueued_at, ' ', this.delivery, ' ',
      this.priority, ' ', this.waiting, ' ', this.cancel_at, ' ', this.cancel_until),
    this.claimed_by, this.error, this.by, this.payload, this.handler, this.cancel_by
  )
$$;
