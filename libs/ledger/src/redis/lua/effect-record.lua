-- Layout of a run's effects in the hash of the run. Read by redis-attempt-codec.ts.
--
-- e/<name>          "state since took first by place", all but the state decimals: since when and by which fence it was begun
--                   first since it last failed; how long after that it ended, ms, or nothing; by which fence it ended, 0 for
--                   none, = for the same; and when in order it came
-- h/<name>          hash of the payload when it was begun first
-- r/<name>          result as JSON once it is done, the error once it has failed
-- b/<fence>/<name>  nonce of an attempt that was allowed to begin it, or items under its name: its word counts also late
-- e                 the last place that was given
--
-- The name stands last in its field: whatever it contains, no two fields are the same.
local function read_effect(key, name)
  local fields = redis.call('HMGET', key, 'e/' .. name, 'h/' .. name)
  local state, since, took, first, by, place = string.match(fields[1] or '', '^(%a+) (%d+) (%-?%d*) (%d+) (%S+) (%d+)$')
  return { name = name, state = state, since = since, took = took or '', first = first, by = by == '=' and first or by or '0',
    place = place, hash = fields[2] or '' }
end

local function write_effect(key, effect, ...)
  if not effect.place then effect.place = string.format('%.0f', redis.call('HINCRBY', key, 'e', 1)) end
  local by = effect.by == effect.first and '=' or effect.by
  local words = { effect.state, effect.since, effect.took, effect.first, by, effect.place }
  redis.call('HSET', key, 'e/' .. effect.name, table.concat(words, ' '), ...)
end

-- Records the end of an effect, by an attempt or, under fence 0, by an operator. The caller has checked that it is not done.
local function end_effect(key, effect, ending)
  effect.first, effect.since = effect.first or ending.by, effect.since or ending.at
  effect.state, effect.by = ending.state, ending.by
  effect.took = string.format('%.0f', tonumber(ending.at) - tonumber(effect.since))
  write_effect(key, effect, 'r/' .. effect.name, ending.text)
end
