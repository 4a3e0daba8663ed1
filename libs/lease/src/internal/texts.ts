/** Not public API: how a package reads its Lua and SQL. */

export { readTexts, textOf } from '../base/read-texts.js';
export type { Texts } from '../base/read-texts.js';
