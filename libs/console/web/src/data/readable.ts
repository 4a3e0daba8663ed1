/** Embeddings, overrides and isolates of bidirectional text. Marks, which turn nothing around, stay as they are. */
const TURNS_TEXT = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * An answer with these characters written out: in a reason or an error they turn around what the page shows after it, such as
 * the name of who gave an order.
 */
export function readable<Value>(value: Value): Value {
  return inside(value) as Value;
}

function inside(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(TURNS_TEXT, (char) => `\\u${char.charCodeAt(0).toString(16)}`);
  if (Array.isArray(value)) return value.map(inside);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, inside(part)]));
}
