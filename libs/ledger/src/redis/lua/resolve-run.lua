-- Records an operator's answer about the unresolved effect of an uncertain run.
-- Its arguments and replies are those of redis-operator-codec.ts.
--
-- KEYS[1]  the run
-- KEYS[2]  open runs
-- KEYS[3]  watch list
-- KEYS[4]  uncertain runs
-- KEYS[5]  effects of the run
-- KEYS[6]  items of the run
-- ARGV[1]  run id
-- ARGV[2]  nonce of the answer
-- ARGV[3]  the answer: done | failed, when it did not happen | give-up
-- ARGV[4]  result as JSON, or the error
-- ARGV[5]  look again after, ms
-- ARGV[6]  keep a finished run for, ms
-- ARGV[7]  attempt that asked
-- ARGV[8]  effect that is answered
-- ARGV[9]  1 when the answer is about an item
-- ARGV[10]  key of the item, or empty
-- ARGV[11]  since when the effect is unknown, epoch ms
-- Returns  {'RESOLVED', state, delivery or nothing, priority or nothing} | {'CERTAIN', state} |
--          {'ANOTHER', attempt, question as JSON} | {'MISSING'}
--
-- After these keys come the failed runs, the notifications and the cron record, which end-run finds by itself. Fence 0 ends
-- the effect: no attempt has it. An effect that was meanwhile reported done stays done, whatever the answer is. The run may
-- since wait for an answer about another item: an answer counts only for the effect that it names.
-- @include end-run
-- @include effect-record
-- @include item-record
local run = redis.call('HMGET', KEYS[1], 'state', 'question', 'delivery', 'priority', 'extraAttempts', 'resolveNonce',
  'resolveState', 'resolveDelivery', 'attempt')
local state, priority = run[1], run[4] or ''
if not state then return { 'MISSING' } end
if run[6] == ARGV[2] then return { 'RESOLVED', run[7], run[8], priority } end
if state ~= 'uncertain' then return { 'CERTAIN', state } end
local question = cjson.decode(run[2])
local of_item = type(question.item) == 'string'
local same = run[9] == ARGV[7] and question.effect == ARGV[8] and of_item == (ARGV[9] == '1')
  and (not of_item or question.item == ARGV[10]) and string.format('%.0f', question.since) == ARGV[11]
if not same then return { 'ANOTHER', run[9], run[2] } end
-- @include lease/server-time
local at = string.format('%.0f', now)

if ARGV[3] == 'give-up' then
  end_run(ARGV[1], { run = KEYS[1], effects = KEYS[5], sets = { KEYS[2], KEYS[3], KEYS[4] } }, ARGV[6], 'state', 'failed',
    'finishedAt', at, 'error', ARGV[4], 'question', '', 'resolveNonce', ARGV[2], 'resolveState', 'failed',
    'resolveDelivery', '')
  return { 'RESOLVED', 'failed', '', priority }
end
if of_item then
  local field = item_field(question.effect, question.item)
  local known, since = read_item(KEYS[6], field)
  if known ~= 'done' then
    write_item(KEYS[6], field, ARGV[3], since or at, ARGV[3] == 'done' and '' or ARGV[4])
  end
else
  local effect = read_effect(KEYS[5], question.effect)
  if effect.state ~= 'done' then end_effect(KEYS[5], effect, { state = ARGV[3], by = '0', at = at, text = ARGV[4] }) end
end
local delivery = string.format('%.0f', tonumber(run[3]) + 1)
redis.call('HSET', KEYS[1], 'state', 'enqueued', 'question', '', 'notBefore', at, 'delivery', delivery,
  'extraAttempts', string.format('%.0f', tonumber(run[5] or '0') + 1), 'resolveNonce', ARGV[2],
  'resolveState', 'enqueued', 'resolveDelivery', delivery)
redis.call('ZREM', KEYS[4], ARGV[1])
redis.call('ZADD', KEYS[2], '+inf', ARGV[1])
redis.call('ZADD', KEYS[3], string.format('%.0f', now + tonumber(ARGV[5])), ARGV[1])
return { 'RESOLVED', 'enqueued', delivery, priority }
