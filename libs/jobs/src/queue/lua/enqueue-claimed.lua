-- Claims occurrences, and adds the jobs of the accepted ones to a queue of BullMQ in the same step. Expects the functions
-- claim_occurrences, of a ledger on the same server, and add_jobs before it.
--
-- A job has the id of its run, which is a JSON string as it is.
-- KEYS: those of claim_occurrences, then those of add_jobs
-- ARGV: those of claim_occurrences; then what the jobs share: prefix of their keys; when they were made, epoch milliseconds; their
--   data, JSON, before and after the id; their options, JSON, before and after the id
-- Returns  what claim_occurrences returns
local function cut(list, count)
  local last = {}
  for n = count, 1, -1 do last[n] = table.remove(list) end
  return last
end
local keys = cut(KEYS, 6)
local prefix, made_at, data, data_end, options, options_end = unpack(cut(ARGV, 6))
local replies, ids = claim_occurrences(KEYS, ARGV)
if #ids == 0 then return replies end

local jobs, n = { prefix }, 1
for _, id in ipairs(ids) do
  jobs[n + 1], jobs[n + 2] = id, string.sub(id, 1, string.find(id, '@', 1, true) - 1)
  jobs[n + 3], jobs[n + 4], jobs[n + 5] = data .. id .. data_end, options .. id .. options_end, made_at
  n = n + 5
end
add_jobs(keys, jobs)
return replies
