import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  JobsModule,
  SingletonCron,
  Telemetry,
  type JobsModuleOptions,
  type Role,
  type RunContext,
} from '@fencepost/jobs';

/** A worker that ends itself in the middle of things: what a machine that runs out of memory does to its processes. */
const { OPTIONS = '{}', RECEIVER = '', DIES = '' } = process.env;
const ping = { success: `${RECEIVER}/ok`, failure: `${RECEIVER}/no`, uncertain: `${RECEIVER}/asks` };
const NEVER = '0 0 1 1 *';

class Jobs {
  @SingletonCron(NEVER, { name: 'report', retry: { attempts: 2, delay: '10ms' }, ping })
  report({ attempt }: RunContext): void {
    if (DIES === 'in its last attempt' && attempt === 2) process.kill(process.pid, 'SIGKILL');
    if (DIES !== '') throwUnless(DIES !== 'in its last attempt');
  }

  @SingletonCron(NEVER, { name: 'charge', ping, criticality: 'efficiency' })
  async charge(run: RunContext): Promise<void> {
    const never = new Promise<void>(() => undefined);
    await run.effect('card', () => never, { timeout: '50ms', ifUnknown: 'ask' });
  }
}

function throwUnless(fine: boolean): void {
  if (!fine) throw new Error('no paper');
}

@Module({
  imports: [JobsModule.forRoot(JSON.parse(OPTIONS) as JobsModuleOptions & { roles: Role[] })],
  providers: [Jobs],
})
class Worker {}

const app = await NestFactory.createApplicationContext(Worker, { logger: false });
// Its run is finished in the ledger by then, and nothing was handed on: that takes an answer of the store, and there is none.
if (DIES === 'after finish') {
  app.get(Telemetry).listen((name) => {
    if (name === 'attempt.succeeded') process.kill(process.pid, 'SIGKILL');
  });
}
console.log(JSON.stringify({ msg: 'worker listens on nothing' }));
