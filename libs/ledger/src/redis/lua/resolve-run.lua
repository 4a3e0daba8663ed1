-- Records an operator's answer about the unresolved effect of an uncertain run.
-- Its arguments and replies are those of redis-operator-codec.ts.
--
-- KEYS[1]  cron record
-- KEYS[2]  the run
-- KEYS[3]  open runs
-- KEYS[4]  uncertain runs
-- KEYS[5]  items of the run
-- ARGV[1]  nonce of the answer
-- ARGV[2]  the answer: done | failed, when it did not happen | give-up
-- ARGV[3]  result as JSON, or the error
-- ARGV[4]  look again after, ms
-- ARGV[5]  keep a finished run for, ms
-- ARGV[6]  attempt that asked
-- ARGV[7]  effect that is answered
-- ARGV[8]  1 when the answer is about an item
-- ARGV[9]  key of the item, or empty
-- ARGV[10]  since when the effect is unknown, epoch ms
-- Returns  {'RESOLVED', state, delivery or nothing, priority or nothing} | {'CERTAIN', state} |
--          {'ANOTHER', attempt, question as JSON} | {'MISSING'}
--
-- After these keys come the failed runs, the notifications and whether the cron is noted, which end-run finds by itself. Fence 0
-- ends the effect: no attempt has it. An effect that was meanwhile reported done stays done, whatever the answer is. The run may
-- since wait for an answer about another item: an answer counts only for the effect that it names.
-- @include lease/server-time
-- @include find-cron
-- @include end-run
-- @include effect-record
-- @include item-record
local cron, key = find_cron(KEYS[1]), KEYS[2]
local run = read_run(key, id_of(cron, key))
if not run then return { 'MISSING' } end
local known = redis.call('HMGET', key, 'question', 'resolved', 'c')
local _, _, _, priority = settled(known[3])
local nonce, ending, delivery = string.match(known[2] or '', '^(%S+) (%S+) (%d*)$')
if nonce == ARGV[1] then return { 'RESOLVED', ending, delivery, priority } end
if run.state ~= 'uncertain' then return { 'CERTAIN', run.state } end
local question = cjson.decode(known[1])
local of_item = type(question.item) == 'string'
local same = run.attempt == ARGV[6] and question.effect == ARGV[7] and of_item == (ARGV[8] == '1')
  and (not of_item or question.item == ARGV[9]) and string.format('%.0f', question.since) == ARGV[10]
if not same then return { 'ANOTHER', run.attempt, known[1] } end
local at = string.format('%.0f', now)

redis.call('HDEL', key, 'question')
if ARGV[2] == 'give-up' then
  run.error = ARGV[3]
  end_run(cron, run, ARGV[5], 'failed', 'error', run.error, 'resolved', ARGV[1] .. ' failed ')
  return { 'RESOLVED', 'failed', '', priority }
end
if of_item then
  local field = item_field(question.effect, question.item)
  local state, since = read_item(KEYS[5], field)
  if state ~= 'done' then
    write_item(KEYS[5], field, ARGV[2], since or at, ARGV[2] == 'done' and '' or ARGV[3])
  end
else
  local effect = read_effect(key, question.effect)
  if effect.state ~= 'done' then end_effect(key, effect, { state = ARGV[2], by = '0', at = at, text = ARGV[3] }) end
end
run.state, run.not_before = 'enqueued', since_due(run, now)
run.delivery = string.format('%.0f', tonumber(run.delivery) + 1)
run.extra = string.format('%.0f', (tonumber(run.extra) or 0) + 1)
redis.call('HSET', key, 's', state_text(run), 'resolved', table.concat({ ARGV[1], 'enqueued', run.delivery }, ' '))
redis.call('ZREM', KEYS[4], run.id)
redis.call('ZADD', KEYS[3], score_of(1, now + tonumber(ARGV[4])), run.id)
return { 'RESOLVED', 'enqueued', run.delivery, priority }
