import 'reflect-metadata';
import { bootPod } from '@fencepost/pod';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { prepareApp } from './prepare-app.js';
import { SchedulerAppModule } from './scheduler-app.module.js';

await bootPod<NestExpressApplication>({
  name: 'scheduler',
  defaultPort: 3000,
  module: (environment) => SchedulerAppModule.forRoot(environment),
  prepare: prepareApp,
});
