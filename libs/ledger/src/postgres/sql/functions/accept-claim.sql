-- Records of one cron that an occurrence is accepted, or why it and the instants before it did not run.
--
-- this  the cron, locked
-- claim  as claim_occurrences gets it
-- the_now  epoch ms
-- the_recover  look again after, ms
-- Returns  the reply
--
-- The cursor is also the tombstone: what retention deleted can't come back, because its instant lies behind.
create or replace function accept_claim(this cron, claim jsonb, the_now bigint, the_recover bigint) returns json
language plpgsql
set search_path from current
as $$
declare
  new_id constant text := claim->>'runId';
  paused constant boolean := new_id is not null and coalesce(this.paused_until > the_now, false);
  most constant bigint := claim->>'most';
  found_open record;
begin
  update cron set
    cursor = (claim->>'instant')::bigint,
    fence = (claim->>'fence')::bigint,
    term = claim->>'term',
    generation = (claim->>'generation')::bigint,
    began = case when this.cursor is null then (claim->>'began')::bigint else began end,
    record_nonce = case when new_id is null or paused then claim->>'nonce' else record_nonce end,
    record_paused = case when new_id is null or paused then paused else record_paused end
  where space = this.space and name = this.name;
  if jsonb_array_length(claim->'skips') > 0 then
    insert into skip (space, cron, after, through, reason)
    select this.space, this.name, s.after, s.through, s.reason
    from jsonb_to_recordset(claim->'skips') as s(after bigint, through bigint, reason text)
    on conflict do nothing;
  end if;
  if new_id is null then return json_build_object('verdict', 'recorded'); end if;
  if paused then
    perform record_pause(this, claim);
    return json_build_object('verdict', 'skipped', 'reason', 'paused');
  end if;

  select * into found_open from weigh_overlap(this.space, this.name, claim->>'overlap', most, the_now);
  if found_open.surplus > 0 and not found_open.skipped then
    if claim->>'overlap' = 'replace' then
      perform replace_runs(this.space, this.name, new_id, found_open.surplus, (claim->>'grace')::bigint, the_now);
    elsif claim->>'overlap' = 'queue-one' then
      perform supersede_runs(this.space, this.name, most, the_now);
    end if;
  end if;
  insert into run (
    space, id, cron, scheduled_at, due_at, reason, missed_count, missed_from, missed_to, generation,
    claim_fence, claimed_by, claim_nonce, claimed_at, overlap, max_concurrency, start_by, handler, payload,
    state, skipped, waiting, finished_at, delivery, open_until, watch_at, pending
  ) values (
    this.space, new_id, this.name, (claim->>'instant')::bigint, (claim->>'dueAt')::bigint, claim->>'reason',
    (claim->'missed'->>'count')::bigint, (claim->'missed'->>'from')::bigint, (claim->'missed'->>'to')::bigint,
    (claim->>'generation')::bigint, (claim->>'fence')::bigint, claim->>'holder', claim->>'nonce', the_now,
    claim->>'overlap', most, (claim->>'startBy')::bigint, claim->>'handler', claim->>'payload',
    case when found_open.skipped then 'skipped' else 'claimed' end,
    case when found_open.skipped then 'overlap' end,
    case when found_open.skipped then found_open.waits end,
    case when found_open.skipped then the_now end,
    case when found_open.skipped then 0 else 1 end,
    case when not found_open.skipped then 9223372036854775807 end,
    case when not found_open.skipped then the_now + the_recover end,
    not found_open.skipped
  );
  if found_open.skipped then
    return json_build_object('verdict', 'skipped', 'reason', coalesce(found_open.waits, 'overlap'));
  end if;
  if found_open.surplus > 0 then return json_build_object('verdict', 'claimed', 'runId', new_id, 'behind', true); end if;
  return json_build_object('verdict', 'claimed', 'runId', new_id);
end $$;
