/**
 * What every measured process does: opens its contender, says that it is ready, and from then on answers `mark` (forget
 * what was so far) and `take` (what happened since). It ends with who started it.
 *
 * A sample is how late a handler started, in milliseconds, from the nominal instant on.
 */
export async function serve(open) {
  process.on('disconnect', () => process.exit());
  const samples = { late: [], instants: new Map() };
  const record = (scheduledAt) => {
    const at = performance.timeOrigin + performance.now();
    samples.late.push(at - scheduledAt);
    samples.instants.set(scheduledAt, (samples.instants.get(scheduledAt) ?? 0) + 1);
  };
  let cpu = process.cpuUsage();
  const contender = await open(JSON.parse(process.argv[2]), record);
  process.on('message', ({ say, ...order }) => {
    if (say === 'mark') {
      samples.late = [];
      samples.instants = new Map();
      cpu = process.cpuUsage();
      return process.send({ done: true });
    }
    if (say === 'take') {
      const { user, system } = process.cpuUsage(cpu);
      return process.send({ cpuUs: user + system, late: samples.late, instants: [...samples.instants] });
    }
    void contender[say](order).then(
      (told) => process.send({ told }),
      (error) => process.send({ failed: String(error?.message ?? error) }),
    );
  });
  process.send({ ready: true });
}
