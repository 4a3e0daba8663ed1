import { Injectable, type INestApplicationContext, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { JobHandler, Jobs, JobsModule, Telemetry, type JobsModuleOptions, type RunContext } from '@fencepost/jobs';
import { RUN_QUEUE, type BullmqRunQueue } from '@fencepost/jobs/internal';
import { OperationsModule } from '@fencepost/operations';
import { afterEach } from 'vitest';
import { recordedEvents } from '../support/recorded.js';
import { testRedis } from '../support/redis.js';
import { redisSpaces } from './redis-space.js';

type Space = ReturnType<ReturnType<typeof redisSpaces>['fresh']>;

/** A class with a handler for each of the jobs, each in the pool that is named with it. */
function workOn(jobs: Readonly<Record<string, string>>): Type<{ readonly done: RunContext[] }> {
  @Injectable()
  class Work {
    readonly done: RunContext[] = [];
  }
  for (const [name, pool] of Object.entries(jobs)) {
    const value = function handle(this: Work, run: RunContext) {
      this.done.push(run);
    };
    Object.defineProperty(Work.prototype, name, { value, configurable: true, writable: true });
    const descriptor = Object.getOwnPropertyDescriptor(Work.prototype, name) as TypedPropertyDescriptor<typeof value>;
    JobHandler(name, { pool })(Work.prototype, name, descriptor);
    Object.defineProperty(Work.prototype, name, descriptor);
  }
  return Work;
}

export interface Started {
  readonly app: string;
  readonly jobs: Readonly<Record<string, string>>;
  readonly options?: Partial<JobsModuleOptions>;
  readonly roles?: readonly ('scheduler' | 'worker')[];
}

/** Applications of a file's tests, each with a scheduler and a worker unless it is asked for otherwise; closed after the test. */
export function routedWorkers() {
  const open: INestApplicationContext[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((app) => app.close()));
  });
  return {
    spaces: redisSpaces(),

    /** An application, and what its worker has executed. */
    start: async (space: Space, { app: name, jobs, options, roles = ['scheduler', 'worker'] }: Started) => {
      const work = workOn(jobs);
      const given = { redis: testRedis(), ...space, app: name, drainDeadline: '2s', sweepEvery: '500ms', ...options };
      const module = JobsModule.forRoot({ roles, ...given });
      const hasJobs = Object.keys(jobs).length > 0;
      const imports = [module, OperationsModule.on(module)];
      const app = await Test.createTestingModule({ imports, providers: hasJobs ? [work] : [] }).compile();
      open.push(app);
      const events = recordedEvents(app.get(Telemetry));
      await app.init();
      const done = hasJobs ? app.get(work).done : [];
      return { app, events, done, jobs: app.get(Jobs), queue: app.get<BullmqRunQueue>(RUN_QUEUE) };
    },

    close: async ({ app }: { readonly app: INestApplicationContext }): Promise<void> => {
      await open.splice(open.indexOf(app), 1)[0]?.close();
    },
  };
}
