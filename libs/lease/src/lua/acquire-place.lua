-- Takes one of the places of a resource and issues its fence in one step, or does neither.
--
-- KEYS[1]  the places: a hash of nonce to '<ends at> <ttl> <fence> <since> <holder>' that expires with the last of them
-- KEYS[2]  the last fence issued for the resource
-- KEYS[3]  the size: how many places were `asked` for last, and how many were `set`
-- ARGV[1]  nonce of the term
-- ARGV[2]  holder, text
-- ARGV[3]  ttl, milliseconds
-- ARGV[4]  floor, the highest fence known to have been accepted
-- ARGV[5]  places, where none were set
-- ARGV[6]  forget fence and size after this long without a request, milliseconds; 0 for never
-- Returns  {'ACQUIRED', fence} | {'BUSY', milliseconds until the next place is free} | {'EXHAUSTED'}
--
-- All places share one counter: two that are held at once have different fences, and the later one has the larger. It is
-- forgotten by the clock that fences are counted by: a later holder gets a larger one, unless the clock goes back that far.
-- @include read-places
local ttl = checkNumber('ttl', ARGV[3], 1)
local floor = checkNumber('floor', ARGV[4], 0)
local places = checkNumber('places', ARGV[5], 1)
local forget = checkNumber('forget after', ARGV[6], 0)
-- No sooner than the term that is asked for is over.
local kept = forget > 0 and math.max(forget, ttl)
local stored = checkNumber('the stored fence', redis.call('GET', KEYS[2]) or '0', 0)
local size = redis.call('HMGET', KEYS[3], 'asked', 'set')
if size[2] then
  places = checkNumber('the places set', size[2], 1)
end

local own = livingPlace(ARGV[1], redis.call('HGET', KEYS[1], ARGV[1]))
if own then
  -- A repeated request counts from now as well: its sender may have started the clock with the second one.
  renewPlace(KEYS[1], own, ARGV[3])
  return { 'ACQUIRED', own.fence }
end

local living, over = readPlaces(KEYS[1])
if size[1] ~= ARGV[5] then
  redis.call('HSET', KEYS[3], 'asked', ARGV[5])
end
if kept and not size[2] then
  redis.call('PEXPIRE', KEYS[3], string.format('%.0f', kept))
end
for _, nonce in ipairs(over) do
  redis.call('HDEL', KEYS[1], nonce)
end

if #living >= places then
  local left = {}
  for i, term in ipairs(living) do
    left[i] = term.ends - now
    -- More than was ever asked for: the server's clock went back. Twice leaves room for a small correction; the holder's
    -- own ttl is the measure, a contender with a shorter one must not cut a healthy term.
    if left[i] > 2 * tonumber(term.ttl) then
      left[i] = tonumber(term.ttl)
      writePlace(KEYS[1], term, term.ttl)
    end
  end
  table.sort(left)
  -- There may be more holders than places since those were made fewer: then the first to end frees nothing.
  return { 'BUSY', string.format('%.0f', left[#left - places + 1]) }
end

local micros = tonumber(server_time[1]) * 1000000 + tonumber(server_time[2])
local fence = math.max(stored + 1, floor + 1, micros)
if fence > 9007199254740991 then
  return { 'EXHAUSTED' }
end

local text = string.format('%.0f', fence)
redis.call('SET', KEYS[2], text)
-- One that is further ahead of the clock stays: forgotten, it would be followed by a smaller one.
if kept and fence < micros + kept * 1000 then
  redis.call('PEXPIRE', KEYS[2], string.format('%.0f', kept))
end
local since = string.format('%.0f', now)
writePlace(KEYS[1], { nonce = ARGV[1], ttl = ARGV[3], fence = text, since = since, holder = ARGV[2] }, ARGV[3])
return { 'ACQUIRED', text }
