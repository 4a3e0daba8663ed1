-- Shows a run as callers get to see it.
--
-- this  the run
-- Returns  the fields of Run in run.ts, fences as text
create or replace function describe_run(this run) returns json
language sql stable
as $$
  select json_build_object(
    'id', this.id, 'cron', this.cron, 'scheduledAt', this.scheduled_at, 'dueAt', this.due_at, 'state', this.state,
    'reason', this.reason,
    -- A build that knows no other reason reads on: waiting says why the run in the way had not begun.
    'skipped', case when this.skipped = 'overlap' then coalesce(this.waiting, 'overlap') else this.skipped end,
    'missed', case when this.missed_count is not null then
      json_build_object('count', this.missed_count, 'from', this.missed_from, 'to', this.missed_to) end,
    'generation', this.generation, 'claimFence', this.claim_fence::text, 'claimedBy', this.claimed_by,
    'claimedAt', this.claimed_at, 'enqueuedAt', this.enqueued_at, 'delivery', this.delivery, 'attempt', this.attempt,
    'fence', this.fence::text, 'worker', this.worker, 'startedAt', this.started_at, 'attemptedAt', this.attempted_at,
    'notBefore', this.not_before, 'finishedAt', this.finished_at, 'error', nullif(this.error, ''),
    'result', case when this.state = 'succeeded' then
      (select result from run_result where run_result.space = this.space and run_result.run_id = this.id) end,
    'by', this.by,
    'payload', this.payload, 'handler', this.handler, 'waiting', this.waiting, 'priority', this.priority,
    'question', this.question,
    'cancel', case when this.cancel_at is not null then
      json_build_object('at', this.cancel_at, 'by', this.cancel_by, 'until', this.cancel_until) end
  )
$$;
