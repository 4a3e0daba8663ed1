export type { ConsoleAuth } from './auth/access.js';
export type { Authenticate, Identity } from './auth/authenticate.js';
export { ConsoleModule } from './console.module.js';
export type { ConsoleOptions } from './options.js';
