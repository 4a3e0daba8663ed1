-- Makes, changes or removes crons at run time, each unless another change came first.
--
-- the_space  whose catalog it is
-- the_changes  a list of what change_cron takes
-- the_order  {nonce, who, keep, effectiveAfter, kept, max}; max: how many crons there may be before a new one is refused, or null
-- Returns  {changed, replies}: whether anything was written, and what change_cron returns for each in order
create or replace function change_crons(the_space text, the_changes jsonb, the_order jsonb) returns json
language plpgsql
set search_path from current
as $$
declare
  this catalog_state := lock_catalog(the_space);
  at_now constant bigint := now_ms();
  room bigint;
  one jsonb;
  reply jsonb;
  replies jsonb := '[]';
  changed text[] := '{}';
begin
  -- Those that were removed and are still remembered don't count. Counted once: a list may be long.
  if the_order->>'max' is not null then
    room := (the_order->>'max')::bigint
      - (select count(*) from catalog_cron where space = the_space and delete_at is null);
  end if;
  for one in select * from jsonb_array_elements(the_changes) loop
    reply := change_cron(
      the_space, the_order || one || jsonb_build_object('nonce', the_order->>'nonce' || '.' || jsonb_array_length(replies)),
      at_now, room
    );
    room := room - (reply->>'more')::bigint;
    if (reply->>'written')::boolean then changed := changed || (one->>'name'); end if;
    replies := replies || (reply - 'more' - 'written');
  end loop;
  if cardinality(changed) > 0 then
    changed := changed || drop_tombstones(the_space, at_now);
    perform advance_catalog(the_space, at_now, changed);
  end if;
  return json_build_object('changed', cardinality(changed) > 0, 'replies', replies);
end $$;
