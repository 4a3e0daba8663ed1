/** What the server has spent so far, in microseconds of its processor. */
export async function redisCpuUs(redis) {
  const info = await redis.info('cpu');
  return ['used_cpu_sys', 'used_cpu_user'].reduce((sum, name) => sum + figure(info, name) * 1_000_000, 0);
}

function figure(info, name) {
  return Number(new RegExp(`^${name}:([0-9.]+)`, 'm').exec(info)?.[1] ?? NaN);
}

/** Commands that clients sent while `during` runs; those that scripts call don't count. */
export async function commandsDuring(redis, during) {
  const monitor = await redis.monitor();
  let sent = 0;
  monitor.on('monitor', (_time, _args, source) => {
    if (source !== 'lua') sent += 1;
  });
  await during();
  monitor.disconnect();
  return sent;
}
