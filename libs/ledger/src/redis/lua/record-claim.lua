-- Writes the record of a new run, laid out as run-record says. Expects server-time before it. What it is given: { instant, due,
-- reason, policy, generation, fence, rest, skipped, enqueued, nonce, by, not_before or nothing }, and fields that most runs don't
-- have.
local letter_of_policy = { skip = 's', ['queue-one'] = 'o', ['queue-all'] = 'q', replace = 'r', allow = 'a' }
local function record_claim(key, claim, ...)
  local since = tonumber(claim.instant)
  local claimed = string.format('%.0f', now - since)
  local facts = table.concat({ '2', claim.instant, string.format('%.0f', tonumber(claim.due) - since), claim.reason,
    letter_of_policy[claim.policy], claim.generation, claim.fence, claimed, claim.rest }, ' ')
  if claim.skipped then
    redis.call('HSET', key, 'c', facts, 's', '2 k 0 0  ', 'f', claimed .. ' ', 'n', claim.nonce, 'h', claim.by,
      'skipped', 'overlap', ...)
  elseif claim.enqueued then
    redis.call('HSET', key, 'c', facts, 's', '2 e 1 0  ', 'q', claimed, 'n', claim.nonce, 'h', claim.by, ...)
  else
    local wait = claim.not_before and string.format('%.0f', claim.not_before - since) or ''
    redis.call('HSET', key, 'c', facts, 's', '2 c 1 0  ' .. wait, 'n', claim.nonce, 'h', claim.by, ...)
  end
end
