/**
 * Runs a program of the tests from its TypeScript source, without a build: `node run-source.mjs <file>`. For processes of
 * their own that a test starts and kills.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

await import('./register-source.mjs');
const [program = ''] = process.argv.slice(2);
await import(pathToFileURL(resolve(program)).href);
