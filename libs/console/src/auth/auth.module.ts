import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { ProblemFilter } from '../api/problem-filter.js';
import { ACCESS, type Access } from './access.js';
import { AccessBoundary } from './access-boundary.js';
import { FencepostGuard } from './fencepost-guard.js';

/** Who may come in, and what they are told who may not. For every route of the app, wherever it comes from. */
@Module({})
export class AuthModule {
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
