import { SetupError } from '../base/errors.js';
import { checkedCursor } from '../store/holdings-page.js';
import type { HoldingsPage } from '../store/lease-store.js';
import type { Quorum } from './quorum-poll.js';

/** Where a listing has come to: a node, and how many before it could not be read. */
interface Place {
  readonly at: number;
  readonly failures: number;
}

interface Page {
  readonly limit: number;
  readonly timeoutMs: number;
}

/** The place, and that node's own cursor. */
const CURSOR = /^(?<node>\d{1,3}):(?<failed>\d{1,3}):(?<rest>.*)$/s;

/**
 * Names of resources from one node after the other, until those of a majority are read: what a majority holds is on one of
 * them. Who holds them is not said here.
 * @throws {QuorumUnavailableError} when too few nodes answered
 * @throws {RangeError} for a cursor that can't be one
 */
export async function quorumNames(
  quorum: Quorum,
  after: string | null,
  page: Page,
): Promise<{ readonly names: readonly string[]; readonly next: string | null }> {
  const { node = 0, failed = 0, rest = '' } = checkedCursor(CURSOR, after ?? '0:0:');
  const place = { at: Number(node), failures: Number(failed) };
  const found = await pageOf(quorum, { ...page, at: place.at, after: rest === '' ? null : rest }).catch(
    (error: unknown) => {
      if (error instanceof RangeError || place.failures + 1 > quorum.nodes.length - quorum.majority) throw error;
      return null;
    },
  );
  const names = new Set(found?.items.map(({ resource }) => resource));
  return { names: [...names], next: following(quorum, place, found) };
}

function pageOf(
  quorum: Quorum,
  { at, after, limit, timeoutMs }: Page & { readonly at: number; readonly after: string | null },
): Promise<HoldingsPage> {
  const nodes = quorum.nodes.slice(at, at + 1);
  if (nodes.length === 0)
    return Promise.reject(new RangeError(`Expected the cursor of an earlier page, of node ${at}.`));
  return quorum.poll({
    nodes,
    call: async (member, { name }) => {
      if (member.list) return member.list(after, limit);
      throw new SetupError(`The lease store of the node "${name}" can't list what is held.`);
    },
    timeoutMs,
    decide: ({ answers: [first] }) => first?.answer,
  });
}

/** @param page of the node at this place, `null` where it failed */
function following({ majority }: Quorum, { at, failures }: Place, page: HoldingsPage | null): string | null {
  if (page && page.next !== null) return `${at}:${failures}:${page.next}`;
  const failed = page ? failures : failures + 1;
  return at + 1 - failed >= majority ? null : `${at + 1}:${failed}:`;
}
