-- Takes a lease and issues its fence in one step, or does neither.
--
-- KEYS[1]  the lease: '<nonce> <ttl> <fence> <holder>', a string that expires with the term
-- KEYS[2]  the last fence issued for the resource, which never expires
-- ARGV[1]  what is asked for: '<nonce> <ttl> <floor> <holder>', the ttl in milliseconds, the floor the highest fence known
--          to have been accepted. One argument and not four: a client encodes each by itself, and contenders are many
-- Returns  'ACQUIRED <fence>' | 'BUSY <remaining milliseconds>' | 'EXHAUSTED'
--
-- The server's clock in microseconds is part of the fence, so that it goes on increasing after the counter was lost:
-- in a restart without data, or in a failover to a replica that had missed the last writes.
-- One string and no hash: renewing a thousand leases then reads them with one MGET.
-- @include check-number
local mine, ttlText, floorText, holder = ARGV[1]:match('^(%S+) (%S+) (%S+) (.*)$')
local ttl = checkNumber('ttl', ttlText or '', 1)
local floor = checkNumber('floor', floorText, 0)

local term = redis.call('GET', KEYS[1])
if term then
  local nonce, asked, fence, who = term:match('^(%S+) (%d+) (%d+) (.*)$')
  if nonce == mine then
    -- A repeated request counts from now as well: its sender may have started the clock with the second one.
    redis.call('SET', KEYS[1], table.concat({ nonce, ttlText, fence, who }, ' '), 'PX', ttlText)
    return 'ACQUIRED ' .. fence
  end
  local left = redis.call('PTTL', KEYS[1])
  asked = tonumber(asked) or ttl
  -- More than was ever asked for: the server's clock went back (or somebody removed the expiry). Twice leaves room for a
  -- small correction; the holder's own ttl is the measure, a contender with a shorter one must not cut a healthy term.
  if left < 0 or left > 2 * asked then
    left = asked
    redis.call('PEXPIRE', KEYS[1], string.format('%.0f', asked))
  end
  return string.format('BUSY %.0f', left)
end

local stored = checkNumber('the stored fence', redis.call('GET', KEYS[2]) or '0', 0)
local time = redis.call('TIME')
local fence = math.max(stored + 1, floor + 1, tonumber(time[1]) * 1000000 + tonumber(time[2]))
if fence > 9007199254740991 then
  return 'EXHAUSTED'
end

local text = string.format('%.0f', fence)
redis.call('SET', KEYS[2], text)
redis.call('SET', KEYS[1], table.concat({ mine, ttlText, text, holder }, ' '), 'PX', ttlText)
return 'ACQUIRED ' .. text
