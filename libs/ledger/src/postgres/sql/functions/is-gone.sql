-- Says whether a revision has no live pod, as the declaring process knows it.
--
-- the_app  whose revision it is
-- the_order  its order
-- the_by  {gone, formersGone}: '<order> <app>' of each revision without a live pod, and whether no process of a former release
--         is live
-- Returns  whether it has no live pod
create or replace function is_gone(the_app text, the_order bigint, the_by jsonb) returns boolean
language sql immutable
as $$
  select case when is_former(the_order) then (the_by->>'formersGone')::boolean
    else the_by->'gone' ? (the_order::text || ' ' || the_app) end
$$;
