import { formatFence, type Fence } from '@fencepost/lease';
import { z } from 'zod';

/* How what all answers have in common is written: the same words in the API, in the CLI and on the page. */

/** Epoch milliseconds as ISO 8601 with milliseconds, in UTC. */
export const instant = z.iso.datetime({ precision: 3 });
export const instantOrNull = instant.nullable();

/** A duration or a distance, in milliseconds. */
export const ms = z.number();
export const msOrNull = z.number().nullable();

/** A decimal text: a fence may have more digits than other languages keep of a number. */
export const fence = z.string().regex(/^\d{1,16}$/);
export const fenceOrNull = fence.nullable();

/** A whole number, or with a fraction such as 42.01 where two sets of definitions have one number of their own. */
export const revision = z.number().min(0);
export const revisionOrNull = revision.nullable();

export const textOrNull = z.string().nullable();
export const count = z.int().min(0);

export function iso(at: number): string;
export function iso(at: number | null): string | null;
export function iso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

export function fenceText(value: Fence): string;
export function fenceText(value: Fence | null): string | null;
export function fenceText(value: Fence | null): string | null {
  return value === null ? null : formatFence(value);
}
