-- Records how an effect ended.
--
-- the_space  deployment and tenant
-- proof  {cron, runId, fence, nonce}
-- the_name  name of the effect
-- outcome  {kind: done, result} | {kind: failed, error}
-- Returns  recorded | late | known | stale
--
-- A done is a fact about the world. It is kept also from a stale attempt, if that attempt was once allowed to begin the
-- effect, and it is never overwritten. A failed is only the current attempt's opinion.
create or replace function finish_effect(the_space text, proof jsonb, the_name text, outcome jsonb) returns jsonb
language plpgsql set search_path from current set enable_seqscan = off
as $$
declare
  this run;
  known effect;
  mine bigint := (proof ->> 'fence')::bigint;
  is_current boolean;
begin
  perform lock_cron(the_space, proof ->> 'cron');
  select * into this from run where space = the_space and id = proof ->> 'runId';
  is_current := check_attempt(this, proof);
  select * into known from effect where space = the_space and run_id = this.id and name = the_name;
  if known.state = 'done' and (known.fence <> mine or outcome ->> 'kind' = 'failed') then return '"known"'; end if;
  if not is_current then
    perform refuse_attempt(the_space, proof ->> 'cron');
    perform 1 from effect_begun where space = the_space and run_id = this.id and name = the_name and fence = mine
      and nonce = proof ->> 'nonce';
    if not found or outcome ->> 'kind' = 'failed' then return '"stale"'; end if;
  end if;
  perform record_effect(this, the_name, outcome || jsonb_build_object('fence', mine));
  return case when is_current then '"recorded"' else '"late"' end;
end
$$;
