import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isClaim, type Claim } from './claims.js';

/** A counter-example. */
export interface Steps {
  readonly steps: readonly string[];
  /** What broke at the end; `null` for a cycle in which nothing ever ends. */
  readonly claim: Claim | null;
}

const WORDS = new Set(wordsOf(readFileSync(fileURLToPath(new URL('promela/world.pml', import.meta.url)), 'utf8')));

/** Every word that the model has for a state, an answer or a claim. */
export function wordsOf(world: string): string[] {
  const lists = [...world.matchAll(/^mtype = \{([^}]*)\}/gm)];
  return lists.flatMap(([, list = '']) => list.split(',').map((word) => word.trim()));
}

/** Reads a replay. The checker prints words as numbers, and at its end which number each of them has. */
export function readSteps(text: string): Steps {
  const [told = '', rest = ''] = text.split(/^pan:\d+:|^spin: trail ends/m, 2);
  const numbers = [...`${told}${rest}${text}`.matchAll(/^\tmtype {2}(\w+):\t(\d+)$/gm)];
  const names = new Map(numbers.map(([, word = '', n = '']) => (WORDS.has(word) ? [n, word] : ['', ''])));
  const lines = told.split('\n').filter((line) => line.trim() !== '' && !/^(MSC:|\s*<<<<|spin:|ltl )/.test(line));
  const readable = lines.map((line) => line.replace(/#(\d+)/g, (all, n: string) => names.get(n) ?? all));
  const broken = readable.find((line) => line.startsWith('BROKEN '))?.slice('BROKEN '.length) ?? '';
  return { steps: withAnswers(readable), claim: isClaim(broken) ? broken : null };
}

/** An answer stands on a line of its own, because what was asked has to be printed also when its answer never came. */
function withAnswers(lines: readonly string[]): string[] {
  const steps: string[] = [];
  for (const line of lines) {
    if (line.startsWith('BROKEN ')) continue;
    if (line.startsWith('= ')) steps.push(`${steps.pop() ?? ''} -> ${line.slice(2)}`);
    else steps.push(line);
  }
  return steps;
}
