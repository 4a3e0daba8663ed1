-- The tables of the catalog, of the audit trail and of the alarms. Instants are epoch milliseconds of this server's clock.
--
-- One row of `catalog_state` per space: every change of the catalog locks it first, so that there is one writer per space.
create table catalog_state (
  space text collate "C" primary key,
  -- Rises with every accepted change, and is never below the clock in microseconds; 0: nothing was ever accepted.
  version bigint not null default 0,
  -- When the first change was accepted.
  born_at bigint,
  -- The newest record of the audit trail: how many there were, its instant, and its number within that millisecond.
  audit_number bigint not null default 0,
  audit_at bigint not null default 0,
  audit_n bigint not null default 0
);

create table catalog_cron (
  space text collate "C" not null,
  name text collate "C" not null,
  -- The last declaration: its build, the hash of its content and its program; empty: the cron was made at run time.
  seq bigint not null default 0,
  hash text not null default '0',
  source text collate "C" not null default '',
  -- live | dropped (by a build that left it out) | removed (by a person)
  standing text not null default 'live',
  -- When a tombstone may be deleted; null: it is none.
  delete_at bigint,
  primary key (space, name)
);
create index catalog_cron_tombstone on catalog_cron (space, delete_at) where delete_at is not null;

create table catalog_generation (
  space text collate "C" not null,
  cron text collate "C" not null,
  generation bigint not null,
  since bigint not null,
  -- When its number was raised, because the ledger knew higher ones than a catalog that had been lost.
  renumbered_at bigint,
  -- active | disabled | removed
  state text not null,
  -- Of the change at run time that began it; empty for a declaration.
  nonce text not null,
  -- Who had it accepted, and its definition: JSON as text, whose numbers stay as they were written.
  who text not null,
  definition text not null,
  primary key (space, cron, generation)
);

-- The highest build of each program.
create table catalog_build (
  space text collate "C" not null,
  source text collate "C" not null,
  seq bigint not null,
  primary key (space, source)
);

-- Crons whose tombstones were deleted: the ledger still knows them, and nobody misses their definitions.
create table catalog_forgotten (
  space text collate "C" not null,
  name text collate "C" not null,
  primary key (space, name)
);

create table audit_record (
  space text collate "C" not null,
  number bigint not null,
  at bigint not null,
  n bigint not null,
  nonce text collate "C" not null,
  cron text collate "C",
  run_id text collate "C",
  -- JSON.
  record text not null,
  primary key (space, number),
  unique (space, nonce)
);

create table alarm_record (
  space text collate "C" not null,
  cron text collate "C" not null,
  -- JSON.
  record text not null,
  primary key (space, cron)
);
