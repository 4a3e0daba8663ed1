import { readTexts } from '../base/read-texts.js';

/** The Lua in this folder. The build puts the texts here. */
export const TEXTS = readTexts(import.meta.url);
