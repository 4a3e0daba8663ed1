import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { ApiModule } from './api/api.module.js';
import { ReadingModule } from './api/reading.module.js';
import type { Access } from './auth/access.js';
import { AuthModule } from './auth/auth.module.js';
import { QueuesBoardModule } from './board/bull-board.module.js';

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
