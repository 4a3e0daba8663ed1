-- What handlers returned, in a table of its own: most runs have no result, and no step of a run but its end reads or writes one.
--
-- Phase  expand
-- Locks  run: SHARE ROW EXCLUSIVE; run_result: ACCESS EXCLUSIVE; run_result: SHARE, the table is new and no row of run is read
create table run_result (
  space text collate "C" not null,
  run_id text collate "C" not null,
  -- JSON as text: it is handed on as it came.
  result text not null,
  primary key (space, run_id)
);

-- A trigger and no foreign key: it looks for the results of many runs at once, and only when runs are deleted. Builds before
-- version 12 delete runs too, know no results, and may have no rights to this table.
create function delete_results() returns trigger
language plpgsql security definer set search_path from current
as $$
begin
  delete from run_result using gone where run_result.space = gone.space and run_result.run_id = gone.id;
  return null;
end $$;
create trigger delete_results after delete on run referencing old table as gone
for each statement execute function delete_results();
