import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { JobHandler, Jobs, JobsModule } from '@fencepost/jobs';

const { role, redis, prefix, keepRuns, perSecond = 0 } = JSON.parse(process.argv[2]);
const EVERY_MS = 20;
let finished = 0;

/** A pod whose worker asks for its own job, so many times a second, and says how many have run when it is asked. */
class Fed {
  async fed() {
    finished += 1;
  }
}
JobHandler('fed', { retry: { attempts: 1 } })(
  Fed.prototype,
  'fed',
  Object.getOwnPropertyDescriptor(Fed.prototype, 'fed'),
);

const jobs = JobsModule.forRoot({ roles: [role], redis, prefix, keepRuns, pod: role, concurrency: 100 });
const pod = { ...jobs, providers: [...(jobs.providers ?? []), ...(role === 'worker' ? [Fed] : [])] };
const app = await NestFactory.createApplicationContext(pod, { logger: false });

process.on('disconnect', () => process.exit());
process.on('message', () => process.send(finished));
process.send('ready');
if (perSecond > 0) {
  const since = performance.now();
  const queue = app.get(Jobs, { strict: false });
  let asked = 0;
  setInterval(() => {
    const due = Math.floor(((performance.now() - since) / 1_000) * perSecond);
    const items = Array.from({ length: Math.min(500, due - asked) }, () => ({}));
    asked += items.length;
    if (items.length > 0) queue.enqueueMany('fed', items).catch((error) => console.error(error.message));
  }, EVERY_MS);
}
