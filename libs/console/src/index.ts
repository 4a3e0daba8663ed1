export { accessOf } from './auth/access.js';
export type { Authenticate } from './auth/authenticate.js';
export { ConsoleModule } from './console.module.js';
export { prepareApp } from './prepare-app.js';
