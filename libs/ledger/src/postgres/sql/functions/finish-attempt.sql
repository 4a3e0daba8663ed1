-- Ends the current attempt of a run. Expects the row of the cron to be locked.
--
-- the_space  deployment and tenant
-- request  {cron, runId, fence, nonce, kind, error, delayMs, question}; kind: succeeded | failed | cancelled | retry
--            | uncertain
-- sweep_ms  how long after its next attempt is due a waiting run is checked
-- Returns  the state of the run, or null for a stale attempt
--
-- An uncertain run blocks no other run and is not delivered: only an operator's answer moves it.
create or replace function finish_attempt(the_space text, request jsonb, sweep_ms bigint) returns text
language plpgsql set search_path from current
as $$
declare
  ever constant bigint := 9223372036854775807;
  this run;
  at bigint := now_ms();
  due bigint;
  ending text := request ->> 'kind';
begin
  select * into this from run where space = the_space and id = request ->> 'runId';
  if not check_attempt(this, request) then
    if this.finish_nonce = request ->> 'nonce' then return this.finish_state; end if;
    perform refuse_attempt(the_space, request ->> 'cron');
    return null;
  end if;
  if ending = 'retry' then ending := 'enqueued'; end if;
  -- An attempt that ended before it learned of the cancellation is not retried, and needs no operator.
  if ending in ('enqueued', 'uncertain') and this.cancel_until is not null then ending := 'cancelled'; end if;

  due := case when ending = 'enqueued' then at + (request ->> 'delayMs')::bigint end;
  update run set state = ending, error = nullif(request ->> 'error', ''), finish_nonce = request ->> 'nonce',
    finish_state = ending,
    question = case when ending = 'uncertain' then request -> 'question' end,
    doubted_at = case when ending = 'uncertain' then at else doubted_at end,
    finished_at = case when ending in ('enqueued', 'uncertain') then finished_at else at end,
    not_before = coalesce(due, not_before),
    open_until = case ending when 'enqueued' then ever when 'uncertain' then 0 end,
    watch_at = due + sweep_ms
  where space = the_space and id = this.id returning * into this;
  perform note_notification(this, at);
  return ending;
end
$$;
