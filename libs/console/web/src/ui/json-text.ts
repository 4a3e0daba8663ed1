/** @throws Error that says what is wrong with it; `undefined` for nothing */
export function jsonOf(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error(`Expected JSON such as {"month": "2026-11"}, got ${text.trim().slice(0, 40)}`);
  }
}
