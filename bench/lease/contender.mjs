import { contenders } from './contenders.mjs';
import { workloads } from './workloads.mjs';

/**
 * A process for one contender: another's garbage and another's compiled code would be measured with it. It works when it
 * is told to, waits otherwise, and ends with who started it.
 */
const [name, where] = process.argv.slice(2);
process.on('disconnect', () => process.exit());

const contender = await contenders[name](JSON.parse(where));
process.on('message', ({ workload, count }) => {
  void measured(workload, count)
    .catch((error) => ({ failed: `${name}: ${error.message}` }))
    .then((told) => process.send(told));
});
process.send({ ready: true });

async function measured(workload, count) {
  const [cpu, since] = [process.cpuUsage(), performance.now()];
  const told = await workloads[workload](contender, count);
  const wallUs = (performance.now() - since) * 1_000;
  const { user, system } = process.cpuUsage(cpu);
  return { cpuUs: user + system, wallUs, ...told };
}
