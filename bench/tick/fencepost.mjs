import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { JobsModule, SingletonCron } from '@fencepost/jobs';
import { serve } from './child.mjs';

/** A scheduler pod or a worker of ours, or both, as a process; a worker declares `count` crons of one expression. */
await serve(async ({ role, redis, prefix, pod, count = 0, expression, concurrency = 100 }, record) => {
  const roles = role.split(',');
  const jobs = JobsModule.forRoot({ roles, redis, prefix, pod, concurrency });
  const providers = roles.includes('worker') ? [manyCrons(count, expression, record)] : [];
  const app = await NestFactory.createApplicationContext(appOf(jobs, providers), { logger: false });
  return {
    stop: () => app.close(),
    async heap() {
      globalThis.gc?.();
      return process.memoryUsage().heapUsed;
    },
  };
});

function manyCrons(count, expression, record) {
  class ManyCrons {
    record = record;
  }
  for (let n = 0; n < count; n += 1) {
    const method = `run${n}`;
    ManyCrons.prototype[method] = (run) => record(run.scheduledAt.getTime());
    const descriptor = Object.getOwnPropertyDescriptor(ManyCrons.prototype, method);
    SingletonCron(expression, { name: `cron-${n}`, overlap: 'allow', retry: { attempts: 1 } })(
      ManyCrons.prototype,
      method,
      descriptor,
    );
  }
  return ManyCrons;
}

function appOf(jobs, providers) {
  class BenchModule {
    jobs = jobs;
  }
  Module({ imports: [jobs], providers })(BenchModule);
  return BenchModule;
}
