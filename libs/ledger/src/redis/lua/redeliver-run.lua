-- Numbers one more delivery of a run that no worker executes, and orphans the run when its worker is gone.
--
-- KEYS[1]  cron record
-- KEYS[2]  the run
-- KEYS[3]  open runs
-- ARGV[1]  the last delivery the caller knows
-- ARGV[2]  nonce of this call
-- ARGV[3]  keep a finished run for, ms
-- Returns  {'DELIVER', delivery, priority or nothing} | {'ALIVE'} | {'OVER'}
--
-- After these keys come the items of the run and whether the cron is noted, which end-run finds by itself. The delivery number
-- is compared, so that two sweeps that saw the same run hand it over once.
-- @include lease/server-time
-- @include find-cron
-- @include end-run
local cron = find_cron(KEYS[1])
local run = read_run(KEYS[2], id_of(cron, KEYS[2]))
local known = redis.call('HMGET', KEYS[2], 'deliveryNonce', 'c')
local _, _, start_by, priority = settled(known[2] or '')
if run and known[1] == ARGV[2] then return { 'DELIVER', run.delivery, priority } end
if not run or over[run.state] then
  redis.call('ZREM', KEYS[3], id_of(cron, KEYS[2]))
  return { 'OVER' }
end
-- It waits for an operator.
if run.state == 'uncertain' then return { 'ALIVE' } end
local score = tonumber(redis.call('ZSCORE', KEYS[3], run.id) or '') or 0
if run.state == 'running' and score > now then return { 'ALIVE' } end
-- These may never begin: no worker has their handler, or that worker is gone.
if run.cancel_until then
  end_run(cron, run, ARGV[3], 'cancelled')
  return { 'OVER' }
end
if run.attempt == '0' and start_by ~= '' and now > run.since + tonumber(start_by) then
  end_run(cron, run, ARGV[3], 'skipped', 'skipped', 'misfire')
  return { 'OVER' }
end
if run.delivery ~= ARGV[1] then return { 'ALIVE' } end
if run.state == 'running' then
  run.state = 'orphaned'
  if score >= 0 then redis.call('ZADD', KEYS[3], score_of(-1, now), run.id) end
end
run.delivery = string.format('%.0f', tonumber(run.delivery) + 1)
redis.call('HSET', KEYS[2], 's', state_text(run), 'deliveryNonce', ARGV[2])
return { 'DELIVER', run.delivery, priority }
