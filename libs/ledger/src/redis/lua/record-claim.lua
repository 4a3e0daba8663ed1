-- Writes the record of a new run, laid out as run-record says. Expects server-time before it. `terms` are what the runs of many
-- crons may share, put together once for all of them: { instant, due, reason, policy, generation, rest, not_before or nothing }. A
-- run begins as skipped, claimed, or enqueued where its job is added in the same step. At the end come fields that most runs
-- don't have.
local letter_of_policy = { skip = 's', ['queue-one'] = 'o', ['queue-all'] = 'q', replace = 'r', allow = 'a' }
local function settle(terms)
  local since = tonumber(terms.instant)
  terms.claimed = string.format('%.0f', now - since)
  terms.wait = terms.not_before and string.format('%.0f', terms.not_before - since) or ''
  terms.before = table.concat({ '2', terms.instant, string.format('%.0f', tonumber(terms.due) - since), terms.reason,
    letter_of_policy[terms.policy], terms.generation, '' }, ' ')
  terms.after = ' ' .. terms.claimed .. ' ' .. terms.rest
end

local function record_claim(key, terms, state, fence, nonce, by, ...)
  if not terms.before then settle(terms) end
  local facts, call = terms.before .. fence .. terms.after, redis.call
  if state == 'skipped' then
    call('HSET', key, 'c', facts, 's', '2 k 0 0  ', 'f', terms.claimed .. ' ', 'n', nonce, 'h', by, 'skipped', 'overlap', ...)
  elseif state == 'enqueued' then
    call('HSET', key, 'c', facts, 's', '2 e 1 0  ', 'q', terms.claimed, 'n', nonce, 'h', by, ...)
  else
    call('HSET', key, 'c', facts, 's', '2 c 1 0  ' .. terms.wait, 'n', nonce, 'h', by, ...)
  end
end

-- Why it was skipped, where nothing overlaps. A build that knows no other reason than overlap reads on.
local function note_blocked(key, why)
  if why ~= 'overlap' then redis.call('HSET', key, 'waiting', why) end
end
