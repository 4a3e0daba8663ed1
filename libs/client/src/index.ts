export { createClient } from './create-client.js';
export type { Answers, Client, ClientOptions } from './create-client.js';
export type { components, paths } from './api-types.js';
