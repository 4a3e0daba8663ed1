-- Reads the places of a resource that are taken, by the server's clock.
--
-- They are a hash of nonce to '<ends at> <ttl> <fence> <since> <holder>', times in milliseconds. One key of its own per term would
-- expire by itself, but a script can't list them.
-- @include check-number
-- @include longer-term
-- @include server-time

-- The term as it stands there, or nil when there is none, or it is over.
local function livingPlace(nonce, text)
  local ends, ttl, fence, since, holder = (text or ''):match('^(%d+) (%d+) (%d+) (%d+) (.*)$')
  if ends and tonumber(ends) > now then
    return { nonce = nonce, ends = tonumber(ends), ttl = ttl, fence = fence, since = since, holder = holder }
  end
end

-- Those that are taken, in no order, and the nonces of those that are over.
local function readPlaces(key)
  local living, over = {}, {}
  local fields = redis.call('HGETALL', key)
  for i = 1, #fields, 2 do
    local term = livingPlace(fields[i], fields[i + 1])
    if term then
      living[#living + 1] = term
    else
      over[#over + 1] = fields[i]
    end
  end
  return living, over
end

-- Lets a term end `ttl` from now. The key never ends before the last of its terms.
local function writePlace(key, term, ttl)
  local ends = string.format('%.0f', now + tonumber(ttl))
  redis.call('HSET', key, term.nonce, table.concat({ ends, term.ttl, term.fence, term.since, term.holder }, ' '))
  if redis.call('PTTL', key) < tonumber(ttl) then
    redis.call('PEXPIRE', key, ttl)
  end
end

-- Lets a term end `ttl` from now, or when it would have ended anyway.
local function renewPlace(key, term, ttl)
  local longer, left = longerTerm(tonumber(ttl), tonumber(term.ttl), term.ends - now)
  term.ttl = string.format('%.0f', longer)
  writePlace(key, term, string.format('%.0f', left))
end
