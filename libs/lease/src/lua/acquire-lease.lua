-- Takes a lease and issues its fence in one step, or does neither.
--
-- KEYS[1]  the lease: a hash of nonce, holder, fence and ttl that expires with the term
-- KEYS[2]  the last fence issued for the resource, which never expires
-- ARGV[1]  nonce of the term
-- ARGV[2]  holder, text
-- ARGV[3]  ttl, milliseconds
-- ARGV[4]  floor, the highest fence known to have been accepted
-- Returns  {'ACQUIRED', fence} | {'BUSY', remaining milliseconds} | {'EXHAUSTED'}
--
-- The server's clock in microseconds is part of the fence, so that it goes on increasing after the counter was lost:
-- in a restart without data, or in a failover to a replica that had missed the last writes.
-- @include check-number
local ttl = checkNumber('ttl', ARGV[3], 1)
local floor = checkNumber('floor', ARGV[4], 0)

local term = redis.call('HMGET', KEYS[1], 'nonce', 'fence', 'ttl')
if term[1] == ARGV[1] then
  -- A repeated request counts from now as well: its sender may have started the clock with the second one.
  redis.call('HSET', KEYS[1], 'ttl', ARGV[3])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return { 'ACQUIRED', term[2] }
end

if term[1] then
  local left = redis.call('PTTL', KEYS[1])
  local asked = tonumber(term[3]) or ttl
  -- More than was ever asked for: the server's clock went back (or somebody removed the expiry). Twice leaves room for a
  -- small correction; the holder's own ttl is the measure, a contender with a shorter one must not cut a healthy term.
  if left < 0 or left > 2 * asked then
    left = asked
    redis.call('PEXPIRE', KEYS[1], string.format('%.0f', asked))
  end
  return { 'BUSY', string.format('%.0f', left) }
end

local stored = checkNumber('the stored fence', redis.call('GET', KEYS[2]) or '0', 0)
local time = redis.call('TIME')
local fence = math.max(stored + 1, floor + 1, tonumber(time[1]) * 1000000 + tonumber(time[2]))
if fence > 9007199254740991 then
  return { 'EXHAUSTED' }
end

local text = string.format('%.0f', fence)
redis.call('SET', KEYS[2], text)
redis.call('HSET', KEYS[1], 'nonce', ARGV[1], 'holder', ARGV[2], 'fence', text, 'ttl', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return { 'ACQUIRED', text }
