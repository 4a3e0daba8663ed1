-- The tables of the ledger, in a schema of their own. Instants are epoch milliseconds of this server's clock.
--
-- `space` is the deployment and the tenant, as the keys of Redis have them. Whoever changes anything of a cron locks its row
-- in `cron` first, in the order of names where there are many: one writer per cron, as a script in Redis is. Names compare
-- as bytes: an index in a language's order is broken by an update of the system's locale.
create table cron (
  space text collate "C" not null,
  name text collate "C" not null,
  -- The highest scheduler fence that was accepted, and the nonce of its term.
  fence bigint not null default 0,
  term text,
  generation bigint not null default 0,
  -- Every instant up to here has a run or a skip: the tombstone of what retention deletes.
  cursor bigint,
  -- Where the first plan began: what lies before was never accounted for.
  began bigint,
  -- Of instants up to here some may be forgotten.
  forgotten bigint,
  refusals bigint not null default 0,
  -- The highest fence of an attempt, over all runs of the cron.
  run_fence bigint not null default 0,
  paused_since bigint,
  -- 'infinity' as the largest bigint; null: not paused.
  paused_until bigint,
  paused_by text,
  paused_reason text,
  -- The last claim that recorded ranges alone, and whether a pause was why.
  record_nonce text,
  record_paused boolean,
  -- The last order to pause and the last to resume, and until when the pause went that the latter ended.
  pause_nonce text,
  resume_nonce text,
  resumed_until bigint,
  primary key (space, name)
) with (fillfactor = 50);

create table run (
  space text collate "C" not null,
  id text collate "C" not null,
  cron text collate "C" not null,
  state text not null,
  scheduled_at bigint not null,
  due_at bigint not null,
  reason text not null,
  skipped text,
  missed_count bigint,
  missed_from bigint,
  missed_to bigint,
  generation bigint not null,
  claim_fence bigint not null,
  claimed_by text not null default '',
  claim_nonce text not null,
  claimed_at bigint not null,
  enqueued_at bigint,
  delivery integer not null,
  delivery_nonce text,
  attempt integer not null default 0,
  -- Attempts beyond the retry policy, one for each answer of a person.
  extra_attempts integer not null default 0,
  fence bigint,
  nonce text,
  worker text,
  started_at bigint,
  attempted_at bigint,
  lease_until bigint,
  lease_ms bigint,
  not_before bigint,
  finished_at bigint,
  finish_nonce text,
  finish_state text,
  error text,
  by text,
  payload text,
  handler text,
  waiting text,
  cancel_at bigint,
  cancel_by text,
  cancel_until bigint,
  overlap text not null,
  max_concurrency bigint not null default 1,
  start_by bigint,
  priority bigint,
  -- What a person is asked and since when, and the nonce of the last answer.
  question jsonb,
  doubted_at bigint,
  resolve_nonce text,
  -- Until when it stands in the way of a successor; the largest bigint: until it ends. Null: it is over.
  open_until bigint,
  -- When the sweep looks at it; null: never.
  watch_at bigint,
  -- Claimed, and not confirmed.
  pending boolean not null default false,
  -- Indexes are about these and not about what they are made of: a heartbeat and a begin then touch no index.
  is_open boolean not null generated always as (open_until is not null) stored,
  is_watched boolean not null generated always as (watch_at is not null) stored,
  is_troubled boolean not null generated always as (state in ('failed', 'uncertain')) stored
) with (fillfactor = 75);
create index run_by_instant on run (space, cron, scheduled_at desc, id desc);
-- After the index before: as long as the table is empty both cost the planner the same for one id, it takes the later one, and
-- keeps that plan for as long as its session lasts or until the table is analyzed.
alter table run add primary key (space, id);
create index run_open on run (space, cron) where is_open;
create index run_watched on run (space, cron) where is_watched;
create index run_pending on run (space, cron, scheduled_at, id) where pending;
create index run_troubled on run (space, cron, coalesce(finished_at, doubted_at) desc, id desc) where is_troubled;

-- Instants in (after, through] that did not run.
create table skip (
  space text collate "C" not null,
  cron text collate "C" not null,
  after bigint not null,
  through bigint not null,
  reason text not null,
  primary key (space, cron, through, after, reason)
);

-- Instants behind the cursor that somebody asked for: none of them is run a second time. Outlives runs and skips.
create table asked (
  space text collate "C" not null,
  cron text collate "C" not null,
  instant bigint not null,
  primary key (space, cron, instant)
);

create table action (
  space text collate "C" not null,
  cron text collate "C" not null,
  id bigint generated always as identity,
  at bigint not null,
  action text not null,
  by text not null,
  reason text,
  run_id text,
  primary key (space, cron, id)
);

create table effect (
  space text collate "C" not null,
  run_id text collate "C" not null,
  name text collate "C" not null,
  -- begun | done | failed
  state text not null,
  since bigint not null,
  finished_at bigint,
  -- Of the attempt that ended it, else of the one that began it first since it last failed.
  fence bigint not null,
  result text,
  error text,
  payload_hash text,
  id bigint generated always as identity,
  primary key (space, run_id, name)
);

-- Who was once allowed to begin an effect, or the items under its name: only their late word counts.
create table effect_begun (
  space text collate "C" not null,
  run_id text collate "C" not null,
  name text collate "C" not null,
  fence bigint not null,
  nonce text collate "C" not null,
  primary key (space, run_id, name, fence)
);

create table item (
  space text collate "C" not null,
  run_id text collate "C" not null,
  effect text collate "C" not null,
  key text collate "C" not null,
  -- begun | done | failed
  state text not null,
  since bigint not null,
  fence bigint not null,
  error text,
  id bigint generated always as identity,
  primary key (space, run_id, effect, key)
);
