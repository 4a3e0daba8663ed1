import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { bootPod } from '@fencepost/pod';
import { SchedulerAppModule } from './scheduler-app.module.js';

// A list of thousands of crons is garbage once it is sent, but V8 lets a heap grow to a multiple of what is in use: a pod of 80 MB
// grew to 370 MB while its page was looked at. It now collects when the heap has grown by this much.
setFlagsFromString('--heap-growing-percent=40');

await bootPod({
  name: 'scheduler',
  defaultPort: 3000,
  module: (environment) => SchedulerAppModule.forRoot(environment),
});
