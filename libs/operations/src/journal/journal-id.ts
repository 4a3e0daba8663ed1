/** As streams of Redis number their entries: milliseconds, and a count within one. */
const ID = /^(\d{1,15})-(\d{1,15})$/;

/** Before every entry there can be: who has it as a cursor reads all of a journal that was empty. */
export const BEFORE_ALL = '0-0';

/** What somebody sends as the id of an entry may be anything, and a store would refuse it with an error. */
export function isJournalId(text: string | null | undefined): text is string {
  return typeof text === 'string' && ID.test(text);
}

/** Negative when `a` came first. Both have to be ids. */
export function compareIds(a: string, b: string): number {
  const [[atA, nA], [atB, nB]] = [partsOf(a), partsOf(b)];
  return atA - atB || nA - nB;
}

/** When the store took the entry, epoch milliseconds of the store. */
export function instantOf(id: string): number {
  return partsOf(id)[0];
}

function partsOf(id: string): readonly [number, number] {
  const [, at = '0', n = '0'] = ID.exec(id) ?? [];
  return [Number(at), Number(n)];
}
