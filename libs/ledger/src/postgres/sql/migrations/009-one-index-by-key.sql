-- Drops the index that builds up to version 7 list runs with, and that could be taken for the one of the key.
--
-- Phase  contract
-- Minimum  8
-- Locks  run: ACCESS EXCLUSIVE, no row is read
drop index run_by_instant;
