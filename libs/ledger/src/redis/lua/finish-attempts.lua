-- Ends the current attempt of each of many runs: the run succeeds, fails, was cancelled, waits for its next attempt, or
-- waits for a person to say what became of an effect.
-- Its arguments and replies are those of redis-attempt-codec.ts.
--
-- Each run has two keys, the first of them at k, and a row of arguments, the first of them at a. The other keys of its cron
-- are found beside the cron record; on a cluster, where a call is about one run, they follow as well: a server that is
-- moving them refuses the call before anything is written.
-- KEYS[k]  cron record
-- KEYS[k + 1]  the run
-- ARGV[1]  look again after, ms
-- ARGV[2]  keep a finished run for, ms
-- ARGV[a]  fence, decimal
-- ARGV[a + 1]  nonce of the attempt
-- ARGV[a + 2]  outcome: succeeded | failed | cancelled | retry | uncertain; those that follow are there when it didn't succeed
-- ARGV[a + 3]  error text
-- ARGV[a + 4]  delay before the next attempt, ms
-- ARGV[a + 5]  what a person is asked, JSON, or empty
-- Returns  per run the state that it has now | 'STALE' | {'BROKEN', what failed}
-- @include lease/server-time
-- @include end-run
-- @include read-attempt
-- @include find-cron
-- @include isolate-failure
local KEYS, ARGV, call, number = KEYS, ARGV, redis.call, tonumber
local sweep, keep, written_at = number(ARGV[1]), ARGV[2], string.format('%.0f', now)

local function refuse(cron, key, nonce)
  local earlier = call('HMGET', key, 'finishNonce', 'finishState')
  if earlier[1] == nonce then return earlier[2] end
  call('HINCRBY', cron.record, 'refusals', 1)
  return 'STALE'
end

local function state_after(outcome, stop_by)
  -- Who failed, or didn't know what it did, before it heard that it was to stop is neither tried again nor asked about.
  if stop_by and (outcome == 'retry' or outcome == 'uncertain') then return 'cancelled' end
  return outcome == 'retry' and 'enqueued' or outcome
end

local function finish(k, a)
  local cron, key, nonce, outcome = find_cron(KEYS[k]), KEYS[k + 1], ARGV[a + 1], ARGV[a + 2]
  local run, current, stop_by = read_attempt(key, ARGV[a], nonce)
  if not current then return refuse(cron, key, nonce) end
  local state, id, open, watch = state_after(outcome, stop_by), id_of(cron, key), cron.open, cron.watch
  local failure = outcome == 'succeeded' and '' or ARGV[a + 3]
  local written = { 'state', state, 'error', failure, 'finishNonce', nonce, 'finishState', state }
  if over[state] then
    local keys = { run = key, effects = cron.base .. 'effects:' .. id, sets = { open, watch } }
    end_run(id, keys, keep, 'finishedAt', written_at, unpack(written))
  elseif state == 'uncertain' then
    -- An answer may take days: until then the run is not delivered, and its successors run.
    call('HSET', key, 'question', ARGV[a + 5], unpack(written))
    call('ZADD', open, '0', id)
    call('ZREM', watch, id)
    call('ZADD', cron.base .. 'uncertain', written_at, id)
  else
    local not_before = now + number(ARGV[a + 4])
    call('HSET', key, 'notBefore', string.format('%.0f', not_before), unpack(written))
    call('ZADD', open, '+inf', id)
    call('ZADD', watch, string.format('%.0f', not_before + sweep), id)
  end
  -- A run that failed has its notification from end_run.
  if run[6] and (state == 'succeeded' or state == 'uncertain') then
    note_notification(cron.base, id, state, written_at, keep)
  end
  return state
end

local replies, n, a = {}, 1, 3
while a <= #ARGV do
  replies[n] = isolate_failure(finish, 2 * n - 1, a)
  a, n = a + (ARGV[a + 2] == 'succeeded' and 3 or 6), n + 1
end
return replies
