import type { Write } from '../fail-points.js';

/** `beside`: as soon as another attempt calls an effect; `after`: when the run is over, or waits for a person. */
export type Thaw = 'beside' | 'after';

/** Something that happens to a worker, to a message of it, or to one call of an effect. */
export type TortureMishap =
  | {
      readonly kind: 'crash' | 'lose';
      readonly when: 'before' | 'after';
      readonly write: Write;
      readonly effect?: string;
    }
  | {
      readonly kind: 'freeze';
      readonly when: 'before' | 'after';
      readonly write: Write;
      readonly effect?: string;
      readonly thaw: Thaw;
    }
  /** The worker stands still between the begin of the effect and its call, or within the call. */
  | { readonly kind: 'stall'; readonly when: 'before' | 'within'; readonly effect: string; readonly thaw: Thaw }
  /** The run is cancelled while the effect is called; the call takes longer than anything may; its provider refuses; or does it and is not heard. */
  | { readonly kind: 'cancel' | 'slow' | 'refusal' | 'silence'; readonly effect: string };

export type MishapKind = TortureMishap['kind'];

export const MISHAP_KINDS: readonly MishapKind[] = [
  ...(['crash', 'freeze', 'stall', 'lose', 'cancel', 'slow', 'refusal', 'silence'] as const),
];

const THAWED: Record<Thaw, string> = {
  beside: 'and goes on while another attempt does',
  after: 'and goes on when all is over',
};

/** For people: what happened, and where. */
export function mishapText(mishap: TortureMishap): string {
  switch (mishap.kind) {
    case 'crash':
      return `killed ${mishap.when} ${writeText(mishap)}`;
    case 'lose':
      return `${mishap.when === 'before' ? 'request' : 'reply'} of ${writeText(mishap)} lost`;
    case 'freeze':
      return `frozen ${mishap.when} ${writeText(mishap)} ${THAWED[mishap.thaw]}`;
    case 'stall':
      return `frozen ${mishap.when} the call of ${mishap.effect} ${THAWED[mishap.thaw]}`;
    case 'cancel':
      return `cancelled within the call of ${mishap.effect}`;
    case 'slow':
      return `the call of ${mishap.effect} takes too long`;
    case 'refusal':
      return `the provider of ${mishap.effect} refuses`;
    case 'silence':
      return `the provider of ${mishap.effect} does it and is not heard`;
  }
}

function writeText({ write, effect }: { readonly write: Write; readonly effect?: string }): string {
  return effect === undefined ? write : `${write} of ${effect}`;
}
