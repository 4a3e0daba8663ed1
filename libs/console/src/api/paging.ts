/** Where a page ends, as a cursor has it: opaque to clients, so that what stands in it may change. */
const cursorOf = (position: string): string => Buffer.from(position).toString('base64url');

/** What a cursor says; anything else gives some text that is no position. */
export const positionIn = (cursor: string): string => Buffer.from(cursor, 'base64url').toString();

/**
 * The first `limit` of items, and the cursor of the page after them.
 * @param items one more than `limit`, where there is one more
 */
export function pageOf<Item>(items: readonly Item[], limit: number, positionOf: (last: Item) => string) {
  const shown = items.slice(0, limit);
  const last = shown.at(-1);
  return { items: shown, next: items.length > limit && last !== undefined ? cursorOf(positionOf(last)) : null };
}
