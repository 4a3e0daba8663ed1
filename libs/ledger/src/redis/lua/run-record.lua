-- Layout of the hash of a run. Read and written here, and by redis-run-codec.ts. Words that a later format has at the end of c
-- and s are kept.
--
-- c  what its claim settled: "2 scheduledAt due reason overlap generation claimFence claimed maxConcurrency startBy priority
--    missed"
-- s  where it stands: "2 state delivery attempt extraAttempts notBefore"
-- q  when the queue had it
-- r  its latest attempt: "fence leaseMs started attempted", by a worker (w) with a nonce (a)
-- f  how it ended: "finished state", the second when an attempt ended it
-- h  who claimed it, n with which nonce, i that it has items; and under their names what most runs don't have: by, handler,
--    payload, error, result, question, notify, waiting, skipped, deliveryNonce, cancel: "at until by", resolved: "nonce state delivery",
--    last: "nonce state" of an attempt that ended and left the run to another one; and its effects, see effect-record
--
-- With skipped = overlap, waiting says why the run in the way had not begun.
--
-- States, reasons and overlap policies are letters. All times but scheduledAt and those of cancel count from scheduledAt, ms.
-- What isn't there is empty. The end of a run's lease is its score in the set of open runs, and nowhere else. What changes
-- together stands together, so that a step writes little and reads hardly more; and no usual value is longer than 64 bytes: up
-- to there the server keeps a hash in one piece, in half of the memory that it takes otherwise.
-- @include readable-formats
-- @include lease/whole-numbers
local state_of = { c = 'claimed', e = 'enqueued', r = 'running', o = 'orphaned', u = 'uncertain', s = 'succeeded',
  f = 'failed', x = 'cancelled', k = 'skipped' }
local letter_of = {}
for letter, state in pairs(state_of) do letter_of[state] = letter end
local over = { succeeded = true, failed = true, cancelled = true, skipped = true }

local STANDING, SINCE = '^(' .. READABLE .. ') (%a) (%d+) (%d+) (%d*) (%-?%d*)(.*)$', '^' .. READABLE .. ' (%d+) '

local function unpack_run(key, id, facts, text)
  local format, letter, delivery, attempt, extra, not_before, more = string.match(text, STANDING)
  local since = string.match(facts or '', SINCE)
  if not letter or not since then error('expected a run record of format ' .. READABLE .. ', got ' .. string.sub(text, 1, 40)) end
  return { key = key, id = id, since = tonumber(since), state = state_of[letter], delivery = delivery, attempt = attempt,
    extra = extra, not_before = not_before, format = format, more = more }
end

-- Until when a worker may go on that was told to stop.
local function cancel_until(text)
  return text and tonumber(string.match(text, '^%d+ (%d+) ')) or nil
end

-- The run, or nothing.
local function read_run(key, id)
  local found = redis.call('HMGET', key, 'c', 's', 'r', 'a', 'notify', 'i', 'cancel')
  if not found[2] then return nil end
  local run = unpack_run(key, id, found[1], found[2])
  run.latest, run.nonce, run.notify, run.items, run.cancel_until = found[3], found[4], found[5], found[6], cancel_until(found[7])
  return run
end

local function state_text(run)
  return table.concat({ run.format, letter_of[run.state], run.delivery, run.attempt, run.extra, run.not_before }, ' ') .. run.more
end

-- What the claim settled and scripts ask for: letter of the overlap policy, how many at once, startBy and priority, as words.
local function settled(facts)
  return string.match(facts, '^%d+ %d+ %-?%d+ %a (%a) %d+ %d+ %-?%d+ (%d*) (%-?%d*) (%d*) ')
end

-- A time as the record has it.
local function since_due(run, at)
  return string.format(WHOLE, at - run.since)
end
