-- Declares the crons of one build, all or none.
--
-- KEYS[1]  catalog of the tenant
-- ARGV[1]  buildSeq
-- ARGV[2]  channel to announce a change on
-- ARGV[3]  how many declarations follow
-- ARGV[4 + i * 3]  name of a cron
-- ARGV[5 + i * 3]  hash of its declaration
-- ARGV[6 + i * 3]  its declaration, JSON
-- Returns  {'CONFLICT', name} | {'DECLARED', word, ...}, a word a declaration: CHANGED | SAME | OLDER
--
-- A lower buildSeq defines nothing: an old pod that restarts must not take a deploy back.
local build = tonumber(ARGV[1])
local words = { 'DECLARED' }
for i = 0, tonumber(ARGV[3]) - 1 do
  local name, hash = ARGV[4 + i * 3], ARGV[5 + i * 3]
  local known = redis.call('HMGET', KEYS[1], 'build/' .. name, 'hash/' .. name)
  local known_build = tonumber(known[1] or '-1')
  if build == known_build and known[2] ~= hash then return { 'CONFLICT', name } end
  if build < known_build then
    words[#words + 1] = 'OLDER'
  elseif known[2] == hash then
    words[#words + 1] = 'SAME'
  else
    words[#words + 1] = 'CHANGED'
  end
end

local time = redis.call('TIME')
local since = string.format('%.0f', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
local changed = false
for i = 0, tonumber(ARGV[3]) - 1 do
  local name = ARGV[4 + i * 3]
  if words[i + 2] ~= 'OLDER' then redis.call('HSET', KEYS[1], 'build/' .. name, ARGV[1]) end
  if words[i + 2] == 'CHANGED' then
    changed = true
    redis.call('HSET', KEYS[1], 'hash/' .. name, ARGV[5 + i * 3], 'cron/' .. name, ARGV[6 + i * 3], 'since/' .. name, since)
    redis.call('HINCRBY', KEYS[1], 'generation/' .. name, 1)
  end
end
if changed then redis.call('PUBLISH', ARGV[2], since) end
return words
