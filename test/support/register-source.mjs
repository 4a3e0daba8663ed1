/**
 * `node --import register-source.mjs <program>`: the program may import the TypeScript sources of this repository, without a
 * build. For programs that stand elsewhere, as a user's does.
 */
import { register } from 'node:module';

register('./source-hooks.mjs', import.meta.url);
process.setSourceMapsEnabled(true);
