import 'reflect-metadata';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { JobsModule } from '@fencepost/jobs';
import { SCHEDULER } from '@fencepost/jobs/internal';
import { serve } from '../tick/child.mjs';

const LOOK_MS = 2;

/** Scheduler pods of ours in one process, each with its own connections. */
await serve(async ({ redis, prefix, pod, pods = 1 }) => {
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  let cpu = process.cpuUsage();
  const names = Array.from({ length: pods }, (_, n) => (pods === 1 ? pod : `${pod}-${n}`));
  const apps = await Promise.all(names.map((name) => open({ redis, prefix, pod: name })));
  const running = () => apps.map((app) => app.get(SCHEDULER, { strict: false }).pod);
  return {
    held: async () => running().reduce((sum, one) => sum + one.engine.size, 0),
    rss: async () => process.memoryUsage().rss,
    /** Since the process began. */
    peakRss: async () => process.resourceUsage().maxRSS * 1_024,
    /** Forgets the pauses of the loop and the processor time so far. */
    async calm() {
      loop.reset();
      cpu = process.cpuUsage();
    },
    async spent() {
      const { user, system } = process.cpuUsage(cpu);
      return { loopMaxMs: loop.max / 1e6, cpuMs: (user + system) / 1_000 };
    },
    /** When each pod of the process has this definition of the cron: wall clock. */
    async known({ name, expression }) {
      const isKnown = (one) => one.catalogCache.get(name)?.entry.definition.expression === expression;
      while (!running().every(isKnown)) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      return Date.now();
    },
    stop: () => Promise.all(apps.map((app) => app.close())),
  };
});

function open({ redis, prefix, pod }) {
  const jobs = JobsModule.forRoot({ roles: ['scheduler'], redis, prefix, pod });
  class BenchModule {
    jobs = jobs;
  }
  Module({ imports: [jobs] })(BenchModule);
  return NestFactory.createApplicationContext(BenchModule, { logger: false });
}
