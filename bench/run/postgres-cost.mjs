import { readFileSync } from 'node:fs';

/** What a server has cost since it started: processor time of all its processes, and bytes of its log. */
export async function postgresCost(client) {
  const { rows } = await client.query(
    `select split_part(pg_read_file('postmaster.pid'), e'\\n', 1)::int as pid, pg_current_wal_lsn() - '0/0' as wal`,
  );
  const [{ pid, wal }] = rows;
  return { postgresUs: cpuUs(pid), walBytes: Number(wal) };
}

/** Of a process and its children, also of those that have ended. */
function cpuUs(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  const [user, system, ended, endedSystem] = ticksOf(pid);
  const sum = children.reduce(
    (total, child) =>
      total +
      ticksOf(child)
        .slice(0, 2)
        .reduce((a, b) => a + b),
    0,
  );
  return (user + system + ended + endedSystem + sum) * 10_000;
}

function ticksOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
      .slice(11, 15)
      .map(Number);
  } catch {
    return [0, 0, 0, 0];
  }
}
