import 'reflect-metadata';
import { bootPod } from '@fencepost/pod';
import { WorkerAppModule } from './worker-app.module.js';

await bootPod({ name: 'worker', defaultPort: 3100, module: (environment) => WorkerAppModule.forRoot(environment) });
