-- Takes a lease and issues its fence in one step, or does neither. The one place where that is decided.
--
-- `asked` is '<nonce> <ttl> <floor> <holder>', the ttl in milliseconds, the floor the highest fence known to have been
-- accepted. One text and not four: a client encodes each argument by itself, and contenders are many.
--
-- The server's clock in microseconds is part of the fence, so that it goes on increasing after the counter was lost:
-- in a restart without data, or in a failover to a replica that had missed the last writes. The same clock in milliseconds
-- stays with the term: a person who looks at it later wants to know since when it is held.
-- One string and no hash: renewing a thousand leases then reads them with one MGET.
-- @include check-number
-- @include longer-term
local function takeLease(leaseKey, fenceKey, asked)
  local mine, ttlText, floorText, holder = asked:match('^(%S+) (%S+) (%S+) (.*)$')
  local ttl = checkNumber('ttl', ttlText or '', 1)
  local floor = checkNumber('floor', floorText, 0)

  local term = redis.call('GET', leaseKey)
  if term then
    local nonce, length, fence, rest = term:match('^(%S+) (%d+) (%d+) (.*)$')
    if nonce == mine then
      -- A repeated request counts from now as well: its sender may have started the clock with the second one.
      local longer, left = longerTerm(ttl, tonumber(length), redis.call('PTTL', leaseKey))
      local text = table.concat({ nonce, string.format('%.0f', longer), fence, rest }, ' ')
      redis.call('SET', leaseKey, text, 'PX', string.format('%.0f', left))
      return 'ACQUIRED ' .. fence
    end
    local left = redis.call('PTTL', leaseKey)
    length = tonumber(length) or ttl
    -- More than any requested TTL: the server's clock went back (or the expiry was removed). Twice leaves room for a
    -- small correction; the holder's own ttl is the measure, a contender with a shorter one must not cut a healthy term.
    if left < 0 or left > 2 * length then
      left = length
      redis.call('PEXPIRE', leaseKey, string.format('%.0f', length))
    end
    return string.format('BUSY %.0f', left)
  end

  local stored = checkNumber('the stored fence', redis.call('GET', fenceKey) or '0', 0)
  local time = redis.call('TIME')
  local micros = tonumber(time[1]) * 1000000 + tonumber(time[2])
  local fence = math.max(stored + 1, floor + 1, micros)
  if fence > 9007199254740991 then
    return 'EXHAUSTED'
  end

  local text = string.format('%.0f', fence)
  redis.call('SET', fenceKey, text)
  local since = string.format('%.0f', math.floor(micros / 1000))
  redis.call('SET', leaseKey, table.concat({ mine, ttlText, text, since, holder }, ' '), 'PX', ttlText)
  return 'ACQUIRED ' .. text
end
