import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { accessOf, ConsoleModule, type Authenticate } from '@fencepost/console';
import { OperationsModule } from '@fencepost/operations';
import { PodModule, type PodEnvironment } from '@fencepost/pod';

export interface SchedulerAppOptions {
  /** Says who sends a request, beside the tokens; instead of a module named in the environment. */
  readonly authenticate?: Authenticate;
}

/** A pod that acquires the leases of crons, claims their occurrences and enqueues them, and shows what it sees. Holds no user code. */
@Module({})
export class SchedulerAppModule {
  /** @throws {SetupError} for a pod that would be open to everybody, and for tokens that can't be read */
  static async forRoot(environment: PodEnvironment, options: SchedulerAppOptions = {}): Promise<DynamicModule> {
    const access = await accessOf(environment, options.authenticate);
    const pod = PodModule.forRoot('scheduler', environment, OperationsModule);
    return { module: SchedulerAppModule, imports: [pod, ConsoleModule.on(pod, access)] };
  }
}
