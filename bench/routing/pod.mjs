import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { JobsModule, SingletonCron } from '@fencepost/jobs';

/** A pod of both roles with the defaults of the library: one cron of each expression it is given. */
const { app: name, crons, redis, prefix } = JSON.parse(process.argv[2]);
const runs = [];

class Service {
  /** The crons are added below. */
  none() {}
}
for (const [cron, expression] of Object.entries(crons)) {
  const handle = ({ scheduledAt, dueAt }) => {
    runs.push({ cron, scheduledAt: scheduledAt.getTime(), lateMs: Date.now() - dueAt.getTime() });
  };
  Object.defineProperty(Service.prototype, cron, { value: handle, configurable: true, writable: true });
  const descriptor = Object.getOwnPropertyDescriptor(Service.prototype, cron);
  SingletonCron(expression, { name: cron })(Service.prototype, cron, descriptor);
  Object.defineProperty(Service.prototype, cron, descriptor);
}

const pod = {
  ...JobsModule.forRoot({ roles: ['scheduler', 'worker'], redis, prefix, app: name, log: false }),
  providers: [Service],
};
const app = await NestFactory.createApplicationContext(pod, { logger: false });

process.on('disconnect', () => process.exit());
process.on('message', (order) => {
  if (order === 'runs') process.send(runs.splice(0));
  else void app.close().then(() => process.exit());
});
process.send('ready');
