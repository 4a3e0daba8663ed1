import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { expect, it } from 'vitest';
import { JobHandler } from '@fencepost/jobs';
import { jobsIn, declaresJobs } from './jobs-in.js';

@Injectable()
class Bank {}

@Injectable()
class Charges {
  constructor(readonly bank: Bank) {}

  @JobHandler('charge')
  charge(): void {}
}

class Plain {
  @JobHandler('plain')
  plain(): void {}
}

@Module({ providers: [Bank, Charges] })
class BillingModule {}

@Module({})
class JobsCoreModule {}

@Module({ imports: [{ module: JobsCoreModule }] })
class DeployedModule {}

@Module({})
class OuterModule {}

@Module({ imports: [Promise.resolve({ module: OuterModule, imports: [{ forwardRef: () => DeployedModule }] })] })
class DeepModule {}

it('a class is made anew each time, and an instance stays the same', async () => {
  const instance = new Plain();
  const made = await jobsIn({ Plain });
  expect((await made.open())[0]).not.toBe((await made.open())[0]);
  const same = await jobsIn({ instance, other: 7, nothing: null });
  expect([same.names, await same.open()]).toEqual([['plain'], [instance]]);
});

it('a Nest module provides its jobs with what they need', async () => {
  const jobs = await jobsIn({ BillingModule, Charges });
  expect(jobs.names).toEqual(['charge']);
  await jobs.open();
  await jobs.close();
  expect((await jobsIn({ default: BillingModule, DeployedModule })).names).toEqual(['charge']);
});

it('a module that would declare its crons to a real store is refused, however deep that is', async () => {
  await expect(jobsIn({ DeployedModule })).rejects.toThrow('give the module that provides the jobs');
  expect(await declaresJobs(DeepModule)).toBe(true);
  expect(await declaresJobs(BillingModule)).toBe(false);
});

it('what no job can be made of is refused with what is missing', async () => {
  await expect(jobsIn({ Charges })).rejects.toThrow('made without arguments, got Charges');
  await expect(jobsIn({ Bank })).rejects.toThrow('got none there');
});
