-- Shows a run to the worker that has begun it, with the record as it is from now on.
--
-- this  the run
-- Returns  [words, claimedBy, error, by, payload, handler, cancelBy]; words: the values without spaces as the text of a row,
--            in the order of begun-run-codec.ts, and the numbers of "missed" joined by semicolons; postgres-attempt-codec.ts
--
-- Leaves out what the worker knows, what an open run never has, and all names: they would cost more than the begin itself. The
-- text of a row has its values between commas, and takes a third of the time of concat. One expression and no query: only that is
-- planned as part of the statement that calls it.
create or replace function describe_begun(this run) returns json
language sql stable
as $$
  select json_build_array(
    row(
      this.fence, this.attempt, this.started_at, this.attempted_at, this.not_before, this.scheduled_at, this.due_at, this.reason,
      case when this.missed_count is not null then concat(this.missed_count, ';', this.missed_from, ';', this.missed_to) end,
      this.generation, this.claim_fence, this.claimed_at, this.enqueued_at, this.delivery,
      this.priority, this.waiting, this.cancel_at, this.cancel_until
    )::text,
    this.claimed_by, this.error, this.by, this.payload, this.handler, this.cancel_by
  )
$$;
