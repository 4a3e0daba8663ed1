-- Drops the functions of builds that the tables no longer admit.
--
-- Returns  nothing
--
-- A function's name ends with the version of its build, and with a hash of all its functions.
do $$
declare
  lowest integer := (select minimum from ledger_version order by version desc limit 1);
  old regprocedure;
begin
  for old in
    select oid from pg_proc where pronamespace = (select oid from pg_namespace where nspname = current_schema())
      and substring(proname from '_v([0-9]+)_[0-9a-f]{8}$')::integer < lowest
  loop
    execute format('drop function %s', old);
  end loop;
end $$;
