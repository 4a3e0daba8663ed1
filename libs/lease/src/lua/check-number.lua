-- Refuses anything but a decimal whole number that a double holds exactly and that isn't too small. Call it before any
-- write, because a script that fails keeps what it has written.
local function checkNumber(name, text, least)
  local number = text:match('^%d+$') and tonumber(text)
  if not number or number < least or number > 9007199254740991 then
    error(string.format('%s has to be a whole number from %.0f to 2^53 - 1', name, least), 0)
  end
  return number
end
