-- Run ids that can't be used again although their record may be gone: an idempotency key for its life, the id of a triggered
-- run that retention removed for as long as a duplicate of the trigger may still come.
create table used_id (
  space text collate "C" not null,
  run_id text collate "C" not null,
  cron text collate "C" not null,
  -- Epoch ms.
  until bigint not null,
  primary key (space, run_id)
);

create index used_id_by_end on used_id (space, cron, until);
