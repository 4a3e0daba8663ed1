-- Compares a declaration with the record of its cron: the only place that decides.
--
-- known  the cron; null where there is none
-- the_hash  of the declaration's content
-- the_source  the program that declares it
-- the_seq  its build
-- the_top  the highest build of that program so far, -1 for none
-- Returns  changed | noted (nothing changes but who declared it last) | same | older | conflict
create or replace function judge_declaration(
  known catalog_cron, the_hash text, the_source text, the_seq bigint, the_top bigint
) returns text
language sql immutable
as $$
  select case
    when the_seq < the_top then 'older'
    when known.name is null then 'changed'
    when known.source = '' then case when known.hash = the_hash and known.standing = 'live' then 'noted' else 'changed' end
    -- While a large build is being written, its crons are ahead of the build that its program is at.
    when known.source = the_source and the_seq < known.seq then 'older'
    -- A cron that its build left out has no owner; the other half of that build may bring it back too.
    when known.standing = 'dropped' then 'changed'
    when known.source <> the_source then case
      when known.hash = the_hash or (the_seq <= known.seq and starts_with(known.hash, the_hash)) then 'same'
      when known.standing = 'live' then 'conflict' else 'changed' end
    -- An operator's change stands until the code declares something new.
    -- The hash of the texts of a cron stands behind that of the rest: they may be yet to come.
    when known.hash = the_hash or (the_seq = known.seq and starts_with(known.hash, the_hash)) then
      case when the_seq > known.seq then 'noted' else 'same' end
    when the_seq = known.seq and not starts_with(the_hash, known.hash) then 'conflict'
    else 'changed'
  end
$$;
