-- Subscribes this connection to a channel until it ends.
--
-- Returns  nothing
LISTEN :"channel"
