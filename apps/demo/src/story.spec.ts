import { describe, expect, it } from 'vitest';
import type { Happening } from './happening.js';
import { Story } from './story.js';

function happening(id: string, text: string, kind: Happening['kind'] = 'note'): Happening {
  return { id, at: 0, kind, text };
}

describe('the story', () => {
  it('has each thing once, in its latest wording and at its latest place', () => {
    const story = new Story();
    for (const one of [happening('1', 'killed'), happening('2', 'up'), happening('1', 'killed → taken over')]) {
      story.add(one);
    }
    expect(story.newest.map(({ text }) => text)).toEqual(['up', 'killed → taken over']);
  });

  it('leaves single runs out and old things behind', () => {
    const story = new Story();
    for (let n = 0; n < 100; n++) story.add(happening(`${n}`, `${n}`));
    story.add(happening('run', 'a run', 'run'));
    expect(story.newest).toHaveLength(30);
    expect(story.newest.at(-1)?.text).toBe('99');
  });
});
