-- Notifications: that a run has come into a state which somebody outside is to hear of, until somebody settles it.
create table notification (
  space text collate "C" not null,
  cron text collate "C" not null,
  id bigint generated always as identity,
  run_id text not null,
  -- succeeded | failed | uncertain
  state text not null,
  notify text not null,
  attempt integer not null,
  at bigint not null,
  took_ms bigint not null,
  error text,
  question jsonb,
  primary key (space, cron, id)
);
-- Of which ends of it somebody is to be notified.
alter table run add column notify text;
-- Notifications that nobody settled in time.
alter table cron add column notifications_dropped bigint not null default 0, add column notification_dropped_at bigint;
