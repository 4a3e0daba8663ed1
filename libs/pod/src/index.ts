export { bootPod, CLOSING_MS } from './boot-pod.js';
export type { Pod } from './boot-pod.js';
export { isLoopback } from './metrics-access.js';
export type { PodEnvironment } from './environment.js';
export { PodModule } from './pod.module.js';
