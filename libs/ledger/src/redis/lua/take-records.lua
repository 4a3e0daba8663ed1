-- Hands out the records of the audit trail that no call has been given yet. The first call ever begins at the end of the trail.
-- Where the server lost how far it was handed out, it goes on after the last record that the caller knows of.
--
-- KEYS[1]  the trail, a stream
-- KEYS[2]  how far it was handed out, and the last call that was given any: a hash
-- ARGV[1]  nonce; the same again is given the same records, if it was the last one that was given any
-- ARGV[2]  how many records at most
-- ARGV[3]  id of a record that was handed out, with all before it; '' for the first call of a process
-- Returns  entries of the stream, the oldest first
local taken = redis.call('HMGET', KEYS[2], 'through', 'from', 'nonce')
local through, from, last = taken[1], taken[2], taken[3]
if not through and ARGV[3] ~= '' then through = ARGV[3] end
if not through then
  local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', '1')[1]
  redis.call('HSET', KEYS[2], 'through', newest and newest[1] or '0-0')
  return {}
end
if last == ARGV[1] then return redis.call('XRANGE', KEYS[1], '(' .. from, through) end
local entries = redis.call('XRANGE', KEYS[1], '(' .. through, '+', 'COUNT', ARGV[2])
if #entries > 0 then
  redis.call('HSET', KEYS[2], 'through', entries[#entries][1], 'from', through, 'nonce', ARGV[1])
end
return entries
