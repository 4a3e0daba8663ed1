-- Accepts a triggered run, or says why not. Moves no cursor, and ignores a pause.
-- Its request is encoded by postgres-operator-codec.ts.
--
-- the_space  whose cron it is
-- the_cron  its name
-- the_recover  look again after, ms
-- the_keep  how long a finished run is kept, ms
-- the_channel  where the run is announced once this is committed, or null
-- request  {runId, nonce, scheduledAt, cronSince, natural, reason, generation, by, payload, handler, missed, overlap, most,
--          grace, notBefore, priority, rerunOf, keyMs, madeAt, lateMs}; natural: the id is the instant's own
-- Returns  the TriggerReply of ledger.ts
--
-- A run whose overlap policy is allow locks no cron: in a caller's own transaction the lock would stay until that ends, and
-- block every worker of the cron. Two calls of one request meet at the run id.
create or replace function trigger_run(
  the_space text, the_cron text, the_recover bigint, the_keep bigint, the_channel text, request jsonb
) returns json
language plpgsql
set search_path from current set enable_seqscan = off
as $$
declare
  new_id constant text := request->>'runId';
  most constant bigint := request->>'most';
  alone constant boolean := request->>'overlap' = 'allow' and request->>'scheduledAt' is null;
  this cron;
  at_now bigint;
  instant_asked bigint;
  begins bigint;
  delayed boolean;
  earlier run;
  refused json;
  found_open record;
begin
  if alone then
    insert into cron (space, name) values (the_space, the_cron) on conflict do nothing;
  else
    this := lock_cron(the_space, the_cron);
  end if;
  at_now := now_ms();
  instant_asked := coalesce((request->>'scheduledAt')::bigint, at_now);
  begins := greatest((request->>'notBefore')::bigint, at_now);
  select * into earlier from run where space = the_space and id = new_id;
  if earlier.finished_at + the_keep <= at_now then
    -- Kept no longer, and only not swept yet.
    if alone then perform lock_cron(the_space, the_cron); end if;
    perform delete_runs(the_space, array(select ctid from run where space = the_space and id = new_id));
  elsif earlier.id is not null then
    return recall_trigger(earlier, request->>'nonce');
  end if;
  if is_used_id(the_space, at_now, request) then return json_build_object('verdict', 'forgotten'); end if;
  refused := refuse_trigger(this, request);
  if refused is not null then return refused; end if;

  select * into found_open from weigh_overlap(the_space, the_cron, request->>'overlap', most, at_now);
  if found_open.surplus > 0 and not found_open.skipped then
    if request->>'overlap' = 'replace' then
      perform replace_runs(the_space, the_cron, new_id, found_open.surplus, (request->>'grace')::bigint, at_now);
    elsif request->>'overlap' = 'queue-one' then
      perform supersede_runs(the_space, the_cron, most, at_now);
    end if;
  end if;
  delayed := begins > at_now and not found_open.skipped;
  insert into run (
    space, id, cron, scheduled_at, due_at, not_before, reason, missed_count, missed_from, missed_to, generation,
    claim_fence, claimed_by, by, claim_nonce, claimed_at, overlap, max_concurrency, handler, payload, priority,
    state, skipped, waiting, finished_at, delivery, open_until, watch_at, pending
  ) values (
    the_space, new_id, the_cron, instant_asked, case when delayed then begins else instant_asked end,
    case when delayed then begins end, request->>'reason',
    (request->'missed'->>'count')::bigint, (request->'missed'->>'from')::bigint, (request->'missed'->>'to')::bigint,
    (request->>'generation')::bigint, 0, request->>'by', request->>'by', request->>'nonce', at_now,
    request->>'overlap', most, request->>'handler', request->>'payload', (request->>'priority')::bigint,
    case when found_open.skipped then 'skipped' else 'claimed' end,
    case when found_open.skipped then 'overlap' end,
    case when found_open.skipped then found_open.waits end,
    case when found_open.skipped then at_now end,
    case when found_open.skipped then 0 else 1 end,
    case when not found_open.skipped then 9223372036854775807 end,
    case when not found_open.skipped then begins + the_recover end,
    not found_open.skipped
  ) on conflict (space, id) do nothing;
  if not found then
    select * into earlier from run where space = the_space and id = new_id;
    return recall_trigger(earlier, request->>'nonce');
  end if;
  if request->>'keyMs' is not null then
    perform remember_ids(the_space, array[the_cron], array[new_id], at_now + (request->>'keyMs')::bigint);
  end if;
  if (request->>'natural')::boolean then
    insert into asked (space, cron, instant) values (the_space, the_cron, instant_asked);
  end if;
  if found_open.skipped then
    return json_build_object('verdict', 'skipped', 'reason', coalesce(found_open.waits, 'overlap'));
  end if;
  if request->>'rerunOf' is not null then perform copy_effects(the_space, the_cron, request->>'rerunOf', new_id); end if;
  if the_channel is not null then perform pg_notify(the_channel, new_id); end if;
  return json_build_object('verdict', 'claimed', 'runId', new_id);
end $$;
