-- Numbers one more delivery of a run that no worker executes, and orphans the run when its worker is gone.
--
-- KEYS[1]  the run
-- KEYS[2]  open runs
-- KEYS[3]  watch list
-- KEYS[4]  pending runs
-- KEYS[5]  effects of the run
-- ARGV[1]  run id
-- ARGV[2]  the last delivery the caller knows
-- ARGV[3]  nonce of this call
-- ARGV[4]  keep a finished run for, ms
-- Returns  {'DELIVER', delivery, priority or nothing} | {'ALIVE'} | {'OVER'}
--
-- After these keys come the items of the run, which end-run finds by itself. The delivery number is compared, so that two
-- sweeps that saw the same run hand it over once.
-- @include end-run
local run = redis.call('HMGET', KEYS[1], 'state', 'delivery', 'deliveryNonce', 'leaseUntil', 'cancelUntil', 'attempt',
  'startBy', 'priority')
local priority = run[8] or ''
if run[3] == ARGV[3] then return { 'DELIVER', run[2], priority } end
if not run[1] or over[run[1]] then
  redis.call('ZREM', KEYS[2], ARGV[1])
  redis.call('ZREM', KEYS[3], ARGV[1])
  return { 'OVER' }
end
-- It waits for an operator.
if run[1] == 'uncertain' then return { 'ALIVE' } end
-- @include lease/server-time
if run[1] == 'running' and tonumber(run[4]) > now then return { 'ALIVE' } end
-- These may never begin: no worker has their handler, or that worker is gone.
local keys = { run = KEYS[1], effects = KEYS[5], sets = { KEYS[2], KEYS[3], KEYS[4] } }
local written_at = string.format('%.0f', now)
if (run[5] or '') ~= '' then
  end_run(ARGV[1], keys, ARGV[4], 'state', 'cancelled', 'finishedAt', written_at)
  return { 'OVER' }
end
if run[6] == '0' and now > (tonumber(run[7] or '') or now) then
  end_run(ARGV[1], keys, ARGV[4], 'state', 'skipped', 'skipped', 'misfire', 'finishedAt', written_at)
  return { 'OVER' }
end
if run[2] ~= ARGV[2] then return { 'ALIVE' } end
if run[1] == 'running' then
  redis.call('HSET', KEYS[1], 'state', 'orphaned')
  redis.call('ZADD', KEYS[2], '0', ARGV[1])
end
redis.call('HSET', KEYS[1], 'deliveryNonce', ARGV[3])
redis.call('HINCRBY', KEYS[1], 'delivery', 1)
return { 'DELIVER', redis.call('HGET', KEYS[1], 'delivery'), priority }
