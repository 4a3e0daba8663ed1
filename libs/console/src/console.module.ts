import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { ApiModule } from './api/api.module.js';
import { ProblemFilter } from './api/problem-filter.js';
import { ReadingModule } from './api/reading.module.js';
import { ACCESS, type Access } from './auth/access.js';
import { AccessBoundary } from './auth/access-boundary.js';
import { FencepostGuard } from './auth/fencepost-guard.js';
import { QueuesBoardModule } from './board/bull-board.module.js';

/** Authentication, roles and error responses for every route of the app, including those of other modules. */
@Module({})
class AuthModule {
  static on(access: Access): DynamicModule {
    return {
      module: AuthModule,
      providers: [
        { provide: ACCESS, useValue: access },
        AccessBoundary,
        { provide: APP_GUARD, useClass: FencepostGuard },
        { provide: APP_FILTER, useClass: ProblemFilter },
      ],
      exports: [ACCESS, AccessBoundary],
    };
  }
}

/** API, page and Bull Board of a scheduler pod, behind one authentication. `prepareApp` puts them in front of its routes. */
@Module({})
export class ConsoleModule {
  /**
   * @param pod the module with the scheduler and `OperationsModule`
   * @param access who may come, from {@link accessOf}
   */
  static on(pod: DynamicModule, access: Access): DynamicModule {
    const auth = AuthModule.on(access);
    const reading = ReadingModule.on(pod);
    const api = ApiModule.on(reading, auth);
    return { module: ConsoleModule, imports: [auth, reading, api, QueuesBoardModule.on(reading, api)] };
  }
}
