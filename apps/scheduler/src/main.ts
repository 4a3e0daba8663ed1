import 'reflect-metadata';
import { bootPod } from '@fencepost/pod';
import { SchedulerAppModule } from './scheduler-app.module.js';

await bootPod({
  name: 'scheduler',
  defaultPort: 3000,
  module: (environment) => SchedulerAppModule.forRoot(environment),
});
