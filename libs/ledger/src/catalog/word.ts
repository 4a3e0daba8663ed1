/** How a declaration begins a generation, each with the reason that is kept with it. */
export const GENERATION_REASONS = {
  /** The catalog had no such cron. */
  created: null,
  /** Its revision is newer than the one in force. */
  changed: null,
  /** The revision in force was newer, and has no live pod any more. */
  reverted: 'the newer revision has no live pod any more',
  /** It had been removed because no live pod declared it. */
  restored: 'declared again',
  /** It belonged to another app, no live pod of which declares it any more. */
  taken: 'no live pod of the app it belonged to declares it any more',
} as const;

/** The reason that is kept with the removal of a cron that no live pod declares. */
export const DROPPED = 'no live pod declares it any more';

export type GenerationWord = keyof typeof GENERATION_REASONS;

/**
 * What a declaration is to what is known of its cron, besides beginning a generation.
 *
 * - `noted`: only the revision in force changes
 * - `same`: nothing changes
 * - `superseded`: a newer revision of the app is in force
 * - `foreign`: the cron belongs to another app
 * - `withheld`: an operator of a former release removed it, and its declaration has not changed since
 * - `later`: a later release wrote it in a format that this one cannot read
 */
export type Word = GenerationWord | 'noted' | 'same' | 'superseded' | 'foreign' | 'withheld' | 'later';

export function isGeneration(word: Word): word is GenerationWord {
  return Object.hasOwn(GENERATION_REASONS, word);
}
