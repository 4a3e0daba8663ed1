-- Takes each of many leases. One key that holds something else costs its own resource, and not the thousand others.
local function takeEach(take, tell)
  local known = readKeys(KEYS)
  for i = 1, #KEYS / 2 do
    local taken, answer = pcall(take, known, i)
    if not taken then answer = 'FAILED ' .. (type(answer) == 'table' and answer.err or answer) end
    tell(i, answer)
  end
  writeKeys(known)
  return known
end
