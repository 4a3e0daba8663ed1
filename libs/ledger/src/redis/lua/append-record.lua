-- Appends a record to the audit trail, unless one of the same nonce is there: its reply may have got lost.
--
-- KEYS[1]  the trail, a stream
-- ARGV[1]  nonce
-- ARGV[2]  the record, JSON
-- ARGV[3]  how many records are kept
-- Returns  id of the record
--
-- A command is repeated within seconds, so only the last hundred records can be its first sending.
for _, entry in ipairs(redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', '100')) do
  if entry[2][2] == ARGV[1] then return entry[1] end
end
return redis.call('XADD', KEYS[1], 'MAXLEN', '=', ARGV[3], '*', 'nonce', ARGV[1], 'record', ARGV[2])
