-- Lists the effects of a run in the order they were begun.
--
-- the_space  deployment and tenant
-- the_run  its id
-- Returns  a list of {name, state, since, finishedAt, fence, result, error, payloadHash}
create or replace function list_effects(the_space text, the_run text) returns json
language plpgsql stable set search_path from current set enable_seqscan = off
as $$
begin
  return (
    select coalesce(json_agg(json_build_object('name', name, 'state', state, 'since', since, 'finishedAt', finished_at,
      'fence', abs(fence)::text, 'result', result, 'error', error, 'payloadHash', payload_hash) order by id), '[]')
    from effect where space = the_space and run_id = the_run
  );
end
$$;
