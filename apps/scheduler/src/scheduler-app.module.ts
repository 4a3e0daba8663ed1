import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { ConsoleModule, type Authenticate } from '@fencepost/console';
import { OperationsModule } from '@fencepost/operations';
import { PodModule, type PodEnvironment } from '@fencepost/pod';
import { consoleAuth } from './console-auth.js';

export interface SchedulerAppOptions {
  /** Says who sends a request, beside the tokens; instead of a module named in the environment. */
  readonly authenticate?: Authenticate;
}

/** A pod that acquires the leases of crons, claims their occurrences and enqueues them, and serves the console. Holds no user code. */
@Module({})
export class SchedulerAppModule {
  /** @throws {SetupError} for a pod that would be open to everybody, and for tokens that can't be read */
  static async forRoot(
    environment: PodEnvironment,
    { authenticate }: SchedulerAppOptions = {},
  ): Promise<DynamicModule> {
    const { trustProxy, rateLimit } = environment.access ?? {};
    const auth = await consoleAuth(environment, authenticate);
    const pod = PodModule.forRoot('scheduler', environment, OperationsModule);
    const console = ConsoleModule.forRoot({ path: '/crons', auth, trustProxy, rateLimit });
    return { module: SchedulerAppModule, imports: [pod, console] };
  }
}
