/** A row of the user's own, which a job writes. */
export const CREATE_ROWS =
  'create table if not exists bench_row (id text primary key, at timestamptz not null default now())';
export const INSERT_ROW = 'insert into bench_row (id) values ($1)';
