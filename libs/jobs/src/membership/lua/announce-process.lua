-- Records that a process that is no scheduler pod is alive, and which format it has.
--
-- KEYS[1]  pods, by when each was last heard
-- KEYS[2]  processes, by when each was last heard
-- KEYS[3]  the format of each
-- KEYS[4]  the highest format ever written by all
-- ARGV[1]  process
-- ARGV[2]  its format
-- ARGV[3]  gone after, ms
-- Returns  {'LOWEST', process, format} | {'REFUSED', the highest format}
-- @include lease/server-time
-- @include announce-format
local keys = { pods = KEYS[1], writers = KEYS[2], formats = KEYS[3], highest = KEYS[4] }
local lowest, highest = announce_format(keys, ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]))
if not lowest then return { 'REFUSED', string.format('%.0f', highest) } end
return { 'LOWEST', lowest[1], lowest[2] }
