-- Records which items of a run have ended since the last step, and which are about to begin.
--
-- the_space  deployment and tenant
-- proof  {cron, runId, fence, nonce}
-- the_effect  the name they are recorded under
-- finished  {outcomes}: a list of {key, kind: done} and {key, kind: failed, error}
-- begun  the keys of those that are about to begin
-- Returns  recorded | stale
--
-- A done is a fact, kept also from a stale attempt that was once allowed to begin items of this name, and never
-- overwritten. Of a stale attempt nothing else counts.
create or replace function advance_items(
  the_space text, proof jsonb, the_effect text, finished jsonb, begun text[]
) returns jsonb
language plpgsql set search_path from current set enable_seqscan = off
as $$
declare
  this run;
  at bigint;
  is_stale boolean;
begin
  perform lock_cron(the_space, proof ->> 'cron');
  at := now_ms();
  select * into this from run where space = the_space and id = proof ->> 'runId';
  is_stale := not check_attempt(this, proof) or this.lease_until <= at;
  if is_stale then
    perform refuse_attempt(the_space, proof ->> 'cron');
    perform 1 from effect_begun where space = the_space and run_id = this.id and name = the_effect
      and fence = (proof ->> 'fence')::bigint and nonce = proof ->> 'nonce';
    if not found then return '"stale"'; end if;
  end if;
  perform record_item(this, the_effect, one ->> 'key', one)
  from jsonb_array_elements(finished -> 'outcomes') with ordinality list (one, place)
  where one ->> 'kind' = 'done' or not is_stale order by place;
  if is_stale then return '"stale"'; end if;
  if cardinality(begun) > 0 then perform begin_items(this, the_effect, begun, at); end if;
  return '"recorded"';
end
$$;
