import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { OperationsModule } from '@fencepost/operations';
import { PodModule, type PodEnvironment } from '@fencepost/pod';
import { ApiModule } from './api/api.module.js';
import { ReadingModule } from './api/reading.module.js';
import { accessOf } from './auth/access.js';
import { AuthModule } from './auth/auth.module.js';
import type { Authenticate } from './auth/authenticate.js';
import { QueuesBoardModule } from './board/bull-board.module.js';

export interface SchedulerAppOptions {
  /** Says who sends a request, beside the tokens; instead of a module named in the environment. */
  readonly authenticate?: Authenticate;
}

/** A pod that acquires the leases of crons, claims their occurrences and enqueues them, and shows what it sees. Holds no user code. */
@Module({})
export class SchedulerAppModule {
  /** @throws {SetupError} for a pod that would be open to everybody, and for tokens that can't be read */
  static async forRoot(environment: PodEnvironment, options: SchedulerAppOptions = {}): Promise<DynamicModule> {
    const auth = AuthModule.on(await accessOf(environment, options.authenticate));
    const pod = ReadingModule.on(PodModule.forRoot('scheduler', environment, OperationsModule));
    const api = ApiModule.on(pod, auth);
    return { module: SchedulerAppModule, imports: [auth, pod, api, QueuesBoardModule.on(pod, api)] };
  }
}
