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
-- ARGV[a + 2]  outcome: succeeded | returned | failed | cancelled | retry | uncertain; nothing follows succeeded, one argument
--              follows returned: it succeeded with a result
-- ARGV[a + 3]  error text; the result as JSON
-- ARGV[a + 4]  delay before the next attempt, ms
-- ARGV[a + 5]  what a person is asked, JSON, or empty
-- Returns  per run the state that it has now | 'STALE' | {'BROKEN', what failed}
-- @include lease/server-time
-- @include find-cron
-- @include end-run
-- @include read-attempt
-- @include isolate-failure
local KEYS, ARGV, call, number = KEYS, ARGV, redis.call, tonumber
local sweep, keep, written_at = number(ARGV[1]), ARGV[2], string.format('%.0f', now)

local function refuse(cron, run, nonce)
  local known = run and call('HMGET', run.key, 'f', 'last') or {}
  local ended = string.match(known[1] or '', '%a$')
  if ended and run.nonce == nonce then return state_of[ended] end
  local earlier, letter = string.match(known[2] or '', '^(%S+) (%a)$')
  -- Once a later attempt has ended the run, what this one said is over.
  if earlier == nonce and not ended then return state_of[letter] end
  call('HINCRBY', cron.record, 'refusals', 1)
  return 'STALE'
end

local WORDS = { succeeded = 3, returned = 4 }

local function state_after(outcome, stop_by)
  if outcome == 'returned' then return 'succeeded' end
  -- Who failed, or didn't know what it did, before it heard that it was to stop is neither tried again nor asked about.
  if stop_by and (outcome == 'retry' or outcome == 'uncertain') then return 'cancelled' end
  return outcome == 'retry' and 'enqueued' or outcome
end

local function finish(k, a)
  local cron, key, outcome = find_cron(KEYS[k]), KEYS[k + 1], ARGV[a + 2]
  local run, current = read_attempt(key, id_of(cron, key), ARGV[a], ARGV[a + 1])
  if not current then return refuse(cron, run, ARGV[a + 1]) end
  local state = state_after(outcome, run.cancel_until)
  if over[state] then run.ended = letter_of[state] end
  if state == 'succeeded' then
    -- Only an earlier attempt can have left an error.
    if run.attempt ~= '1' then call('HDEL', key, 'error') end
    if outcome == 'returned' then
      end_run(cron, run, keep, state, 'result', ARGV[a + 3])
    else
      end_run(cron, run, keep, state)
    end
  elseif over[state] then
    run.error = ARGV[a + 3]
    end_run(cron, run, keep, state, 'error', run.error)
  else
    run.state, run.error = state, ARGV[a + 3]
    -- The run goes on, and the next attempt has another nonce.
    local score, last = '-inf', ARGV[a + 1] .. ' ' .. letter_of[state]
    if state == 'uncertain' then
      -- An answer may take days: until then the run is not delivered, and its successors run.
      run.question = ARGV[a + 5]
      call('HSET', key, 's', state_text(run), 'error', run.error, 'last', last, 'question', run.question)
      call('ZADD', cron.base .. 'uncertain', written_at, run.id)
    else
      local not_before = now + number(ARGV[a + 4])
      run.not_before, score = since_due(run, not_before), score_of(1, not_before + sweep)
      call('HSET', key, 's', state_text(run), 'error', run.error, 'last', last)
    end
    call('ZADD', cron.open, score, run.id)
  end
  -- A run that failed has its notification from end_run.
  if run.notify and (state == 'succeeded' or state == 'uncertain') then note_notification(cron, run, written_at, keep) end
  return state
end

local replies, n, a = {}, 1, 3
while a <= #ARGV do
  replies[n] = isolate_failure(finish, 2 * n - 1, a)
  a, n = a + (WORDS[ARGV[a + 2]] or 6), n + 1
end
return replies
