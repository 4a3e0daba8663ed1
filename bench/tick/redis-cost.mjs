import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

/** What the server has spent so far, in microseconds of its processor. */
export async function redisCpuUs(redis) {
  const info = await redis.info('cpu');
  return ['used_cpu_sys', 'used_cpu_user'].reduce((sum, name) => sum + figure(info, name) * 1_000_000, 0);
}

function figure(info, name) {
  return Number(new RegExp(`^${name}:([0-9.]+)`, 'm').exec(info)?.[1] ?? NaN);
}

/** How often the server carried out each command while `during` ran, those of scripts included. */
export async function commandsDuring(redis, during) {
  const before = await carriedOut(redis);
  await during();
  const after = await carriedOut(redis);
  const counts = Object.entries(after).map(([name, calls]) => [name, calls - (before[name] ?? 0)]);
  // What this question costs itself.
  return Object.fromEntries(counts.filter(([name, calls]) => calls > 0 && name !== 'info'));
}

async function carriedOut(redis) {
  const stats = [...(await redis.info('commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)];
  return Object.fromEntries(stats.map(([, name, calls]) => [name, Number(calls)]));
}

/** How many commands clients sent while `during` ran: what scripts do inside the server is no round trip. */
export async function sentDuring(redis, during) {
  const { host, port } = redis.options;
  const socket = connect(port, host);
  await once(socket, 'connect');
  let sent = 0;
  const lines = createInterface({ input: socket });
  lines.on('line', (line) => {
    if (/^\+[\d.]+ \[\d+ (?!lua)/.test(line) && !/"(info|hello|client)"/i.test(line)) sent += 1;
  });
  socket.write('MONITOR\r\n');
  try {
    await during();
    return sent;
  } finally {
    socket.destroy();
  }
}
