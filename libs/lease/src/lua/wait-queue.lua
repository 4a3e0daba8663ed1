-- Who waits for a lease, in the order in which they began to. It stands behind the term, one line '<until> <nonce>' for each: a
-- lease that nobody waits for has no queue, and costs nothing for it. It ends with a term that expires; waiters enter the next one.
--
-- A waiter asks every two seconds at most, and one that has not asked for ten seconds is dead. A release hands the lease to the first that
-- lives: for a second it is reserved for that one, a term with its nonce and the fence 0, which nobody holds.
local WAITER_LIFE, MAX_WAITERS, RESERVED = 10000, 64, '1000'

local function serverNow()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- The queue of a lease that is reserved for this nonce, else nil.
local function queueOfReserved(term, nonce)
  if term:match('^(%S+) %d+ 0 ') ~= nonce then return nil end
  return term:match('\n.*$') or ''
end

-- The term alone, its live waiters without this one, and until when that one was counted as alive.
local function readQueue(term, nonce, now)
  local head, tail = term:match('^([^\n]*)(.*)$')
  local others, place, alive = {}, nil, nil
  for ends, waiter in tail:gmatch('\n(%d+) (%S+)') do
    if waiter == nonce then
      place, alive = #others + 1, tonumber(ends)
    elseif tonumber(ends) > now then
      others[#others + 1] = '\n' .. ends .. ' ' .. waiter
    end
  end
  return head, others, place, alive
end

local function enterQueue(leaseKey, term, nonce)
  local now = serverNow()
  local head, others, place, alive = readQueue(term, nonce, now)
  -- Most requests of a waiter write nothing.
  if alive and alive - now > WAITER_LIFE / 2 then return end
  if not place and #others >= MAX_WAITERS then return end
  table.insert(others, place or #others + 1, string.format('\n%.0f %s', now + WAITER_LIFE, nonce))
  redis.call('SET', leaseKey, head .. table.concat(others), 'KEEPTTL')
end

local function leaveQueue(leaseKey, term, nonce)
  if not term:find('\n', 1, true) then return end
  local head, others, place = readQueue(term, nonce, serverNow())
  if place then redis.call('SET', leaseKey, head .. table.concat(others), 'KEEPTTL') end
end

-- Ends a term that lives by itself: the first waiter is next. Returns how many terms it ended.
local function endTerm(leaseKey, term)
  if not term:find('\n', 1, true) then return redis.call('DEL', leaseKey) end
  local _, waiters = readQueue(term, '', serverNow())
  local first = table.remove(waiters, 1)
  if not first then return redis.call('DEL', leaseKey) end
  local reserved = table.concat({ first:match(' (%S+)$'), RESERVED, '0 0 ' }, ' ') .. table.concat(waiters)
  redis.call('SET', leaseKey, reserved, 'PX', RESERVED)
  return 1
end
