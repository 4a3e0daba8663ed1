-- Lists runs with their effects.
--
-- the_space  whose runs they are
-- the_runs  their ids
-- the_keep_ms  how long a finished run is kept, ms
-- Returns  a list of {run, effects} in the order given, as read_run and list_effects show them; without unknown runs
create or replace function list_runs_with_effects(the_space text, the_runs text[], the_keep_ms bigint) returns json
language plpgsql volatile set search_path from current set enable_seqscan = off
as $$
begin
  return (
    select coalesce(json_agg(json_build_object('run', run, 'effects', list_effects(the_space, id)) order by place), '[]')
    from (
      select id, place, read_run(the_space, id, the_keep_ms) as run
      from unnest(the_runs) with ordinality as asked (id, place)
      offset 0
    ) as read
    where run is not null
  );
end
$$;
