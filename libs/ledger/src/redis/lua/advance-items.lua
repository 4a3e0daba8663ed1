-- Records which items of a run have ended since the last step, and which are about to begin.
-- Its arguments and replies are those of redis-attempt-codec.ts.
--
-- KEYS[1]  cron record
-- KEYS[2]  the run
-- KEYS[3]  items of the run
-- ARGV[1]  fence, decimal
-- ARGV[2]  nonce of the attempt
-- ARGV[3]  name that the items are recorded under
-- ARGV[4]  how many words about items that have ended follow; after them come the keys of those that are about to begin
-- ARGV[i]  key of an item
-- ARGV[i + 1]  how it ended: done | failed
-- ARGV[i + 2]  the error, or empty
-- Returns  {'RECORDED'} | {'STALE'}
--
-- After these keys come the open runs of the cron, which read-attempt finds by itself.
-- A done is a fact, kept also from a stale attempt that was once allowed to begin items of this name, and never
-- overwritten. Of a stale attempt nothing else counts.
-- @include check-attempt
-- @include item-record
local at, ended = string.format('%.0f', now), tonumber(ARGV[4])
local may = 'b/' .. ARGV[1] .. '/' .. ARGV[3]
local stale = not current or has_expired(cron, run)
local kept = not stale or redis.call('HGET', KEYS[2], may) == ARGV[2]

for i = 5, 4 + ended, 3 do
  local field = item_field(ARGV[3], ARGV[i])
  local state, since = read_item(KEYS[3], field)
  if state ~= 'done' and kept and (ARGV[i + 1] == 'done' or not stale) then
    write_item(KEYS[3], field, ARGV[i + 1], since or at, ARGV[i + 2])
  end
end
if stale then
  redis.call('HINCRBY', KEYS[1], 'refusals', 1)
  return { 'STALE' }
end
if #ARGV > 4 + ended then redis.call('HSET', KEYS[2], may, ARGV[2], 'i', '1') end
for i = 5 + ended, #ARGV do
  local field = item_field(ARGV[3], ARGV[i])
  local state = read_item(KEYS[3], field)
  if state ~= 'done' and state ~= 'begun' then write_item(KEYS[3], field, 'begun', at, '') end
end
return { 'RECORDED' }
