/**
 * Runs a program of the tests from its TypeScript source, without a build: `node run-source.mjs <file>`. For processes of
 * their own that a test starts and kills.
 */
import { register } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

register('./source-hooks.mjs', import.meta.url);
process.setSourceMapsEnabled(true);

const [program = ''] = process.argv.slice(2);
await import(pathToFileURL(resolve(program)).href);
