-- Takes a lease and issues its fence in one step, or does neither. The one place where that is decided.
--
-- `asked` is '<nonce> <ttl> <floor> <holder>', the ttl in milliseconds, the floor the highest fence known to have been
-- accepted; with '@<session>' in place of the ttl the term lives while that session does. One text and not four: a client
-- encodes each argument by itself, and contenders are many.
--
-- A session lies in another slot, so whether it is over is not read here: the answer names it, the client looks, and asks
-- again with it among those that are `over`. Only a term that still names such a session is replaced.
--
-- The server's clock in microseconds is part of the fence, so that it goes on increasing after the counter was lost:
-- in a restart without data, or in a failover to a replica that had missed the last writes. The same clock in milliseconds
-- stays with the term: a person who looks at it later wants to know since when it is held.
-- One string and no hash: renewing a thousand leases then reads them with one MGET. A term of a session carries its fence
-- alone, without the counter beside it: an idle resource costs one key.
-- @include check-number
-- @include longer-term
-- @include many-keys
-- @include wait-queue
local function renewTaken(known, leaseKey, term, asked)
  local nonce, length, fence, rest = term:match('^(%S+) (%d+) (%d+) (.*)$')
  if nonce ~= asked.nonce or asked.session then return nil end
  -- A repeated request counts from now as well: its sender may have started the clock with the second one.
  local longer, left = longerTerm(asked.ttl, tonumber(length), redis.call('PTTL', leaseKey))
  local text = table.concat({ nonce, string.format('%.0f', longer), fence, rest }, ' ')
  redis.call('SET', leaseKey, text, 'PX', string.format('%.0f', left))
  known.values[leaseKey] = text
  return 'ACQUIRED ' .. fence
end

local function busyWith(leaseKey, term, asked)
  local left = redis.call('PTTL', leaseKey)
  local length = tonumber(term:match('^%S+ (%d+) ')) or asked.ttl
  if not length then error('the lease is no term', 0) end
  -- More than any requested TTL: the server's clock went back (or the expiry was removed). Twice leaves room for a
  -- small correction; the holder's own ttl is the measure, a contender with a shorter one must not cut a healthy term.
  if left < 0 or left > 2 * length then
    left = length
    redis.call('PEXPIRE', leaseKey, string.format('%.0f', length))
  end
  if asked.waits then enterQueue(leaseKey, term, asked.nonce) end
  return string.format('BUSY %.0f', left)
end

local function parseAsked(text)
  local nonce, life, floor, holder = text:match('^(%S+) (%S+) (%S+) (.*)$')
  local session = (life or ''):match('^@(.+)$')
  return {
    nonce = nonce,
    life = life,
    session = session,
    ttl = not session and checkNumber('ttl', life or '', 1) or nil,
    floor = checkNumber('floor', floor, 0),
    holder = holder,
  }
end

-- The server's clock as a fence and as the start of a term, once for all leases of a call.
local function readClock(known)
  local time = redis.call('TIME')
  known.micros = tonumber(time[1]) * 1000000 + tonumber(time[2])
  known.issued = string.format('%.0f', known.micros)
  known.since = string.format('%.0f', math.floor(known.micros / 1000))
end

-- `asked` as parseAsked has it, `known` as many-keys has it; the caller writes what was set there.
local function takeLease(known, leaseKey, fenceKey, asked, over)
  local term = readKey(known, leaseKey)
  local last, queue = '0', ''
  if term then
    local nonce, session, fence = term:match('^(%S+) @(%S+) (%d+) ')
    local reserved = not session and queueOfReserved(term, asked.nonce)
    if not session and not reserved then
      return renewTaken(known, leaseKey, term, asked) or busyWith(leaseKey, term, asked)
    end
    queue = reserved or ''
    if session and nonce == asked.nonce and session == asked.session then
      -- Written again, so that replicas can be waited for.
      setKey(known, leaseKey, term)
      return 'ACQUIRED ' .. fence
    end
    if session and not over[session] then return 'HELD ' .. session end
    last = fence or last
  end

  local counter = readKey(known, fenceKey)
  local stored = counter and checkNumber('the stored fence', counter, 0) or 0
  if not known.micros then readClock(known) end
  local fence = math.max(stored + 1, tonumber(last) + 1, asked.floor + 1, known.micros)
  if fence > 9007199254740991 then
    return 'EXHAUSTED'
  end

  local issued = fence == known.micros and known.issued or string.format('%.0f', fence)
  local taken = table.concat({ asked.nonce, asked.life, issued, known.since, asked.holder }, ' ') .. queue
  if asked.session then
    setKey(known, leaseKey, taken)
    if counter then deleteKey(known, fenceKey) end
  else
    redis.call('SET', fenceKey, issued)
    redis.call('SET', leaseKey, taken, 'PX', asked.life)
    known.values[fenceKey], known.values[leaseKey] = issued, taken
  end
  return 'ACQUIRED ' .. issued
end
