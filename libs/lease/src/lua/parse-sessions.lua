-- The sessions that a client knows to be over, as a set of nonces. A session that is over never comes back, so what the
-- client knows stays true however late its command arrives.
local function parseSessions(text)
  local over = {}
  for nonce in (text or ''):gmatch('%S+') do
    over[nonce] = true
  end
  return over
end
