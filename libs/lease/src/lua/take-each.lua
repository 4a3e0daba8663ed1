-- Takes each of many leases. One key that holds something else costs its own resource, and not the thousand others.
--
-- Answers what `take` did for each in order, or 'FAILED <why>', and what is known of their keys.
local function takeEach(take)
  local known, answers = readKeys(KEYS), {}
  for i = 1, #KEYS / 2 do
    local taken, answer = pcall(take, known, i)
    if not taken then answer = 'FAILED ' .. (type(answer) == 'table' and answer.err or answer) end
    answers[i] = answer
  end
  writeKeys(known)
  return answers, known
end
