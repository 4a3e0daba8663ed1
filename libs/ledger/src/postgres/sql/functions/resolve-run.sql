-- Records an operator's answer about the unresolved effect of an uncertain run.
-- Its request and reply are those of postgres-operator-codec.ts.
--
-- the_space  deployment and tenant
-- the_cron  its name
-- the_run  its id
-- request  {nonce, question: {attempt, effect, item, since}, kind, result, error}; kind: done | failed, when it did not
--          happen | give-up
-- sweep_ms  look at it again after
-- Returns  {verdict: resolved, state, delivery, priority} | {verdict: certain, state} |
--          {verdict: asks-another, attempt, question} | {verdict: missing}
--
-- An effect that was meanwhile reported done stays done, whatever the answer is. The nonce is kept with the delivery that it
-- brought, so that a repeated order gets the same answer. The run may since wait for an answer about another item: an answer
-- counts only for the effect that it names.
create or replace function resolve_run(the_space text, the_cron text, the_run text, request jsonb, sweep_ms bigint)
returns jsonb
language plpgsql set search_path from current set enable_seqscan = off
as $$
declare
  answered constant jsonb := request -> 'question';
  ever constant bigint := 9223372036854775807;
  this run;
  at bigint;
  known text[];
begin
  perform lock_cron(the_space, the_cron);
  at := now_ms();
  select * into this from run where space = the_space and id = the_run;
  if not found then return '{"verdict": "missing"}'; end if;
  known := regexp_match(this.resolve_nonce, '^(\d*) (.*)$');
  if known[2] = request ->> 'nonce' then return describe_resolved(this); end if;
  if this.state <> 'uncertain' then
    return jsonb_build_object('verdict', 'certain', 'state', this.state);
  end if;

  if (answered ->> 'attempt')::bigint <> this.attempt
    or answered ->> 'effect' <> this.question ->> 'effect'
    or answered ->> 'item' is distinct from this.question ->> 'item'
    or answered ->> 'since' <> this.question ->> 'since'
  then
    return jsonb_build_object('verdict', 'asks-another', 'attempt', this.attempt, 'question', this.question);
  end if;

  if request ->> 'kind' = 'give-up' then
    update run set resolve_nonce = concat(' ', request ->> 'nonce')
    where space = the_space and id = the_run returning * into this;
    perform end_run(the_space, the_run, 'failed', at, request ->> 'error');
    return describe_resolved(this);
  end if;
  if this.question ->> 'item' is null then
    perform record_effect(this, this.question ->> 'effect', request);
  else
    perform record_item(this, this.question ->> 'effect', this.question ->> 'item', request);
  end if;
  update run set state = 'enqueued', question = null, not_before = at, delivery = delivery + 1,
    extra_attempts = extra_attempts + 1, resolve_nonce = concat(delivery + 1, ' ', request ->> 'nonce'),
    open_until = ever, watch_at = at + sweep_ms
  where space = the_space and id = the_run returning * into this;
  return describe_resolved(this);
end
$$;
