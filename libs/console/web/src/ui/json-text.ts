import { WORDS } from '../words.js';

/** @throws Error that says what is wrong with it; `undefined` for nothing */
export function jsonOf(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error(WORDS.order.notJson(text.trim().slice(0, 40)));
  }
}
