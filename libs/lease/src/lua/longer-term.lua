-- What a renewal of a term makes of it: the ttl it has from now on, and how many milliseconds are left of it.
--
-- A renewal never shortens a term: one that was sent with a shorter ttl may come late, after a longer one, whose holder
-- trusts it. So the ttl stays the one that the end was counted with, and is never less than what is left. Where more is left,
-- the server's clock went back (or the expiry was removed), and the ttl is what the holder trusts at most.
local function longerTerm(ttl, length, left)
  if left < 0 or left > length then
    left = length
  end
  if left > ttl then
    return length, left
  end
  return ttl, ttl
end
