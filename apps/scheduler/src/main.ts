import 'reflect-metadata';
import { prepareApp } from '@fencepost/console';
import { bootPod } from '@fencepost/pod';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { SchedulerAppModule } from './scheduler-app.module.js';

await bootPod<NestExpressApplication>({
  name: 'scheduler',
  defaultPort: 3000,
  module: (environment) => SchedulerAppModule.forRoot(environment),
  prepare: prepareApp,
});
