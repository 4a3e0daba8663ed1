import { describe, expect, it } from 'vitest';
import { paint, widthOf } from './paint.js';

const ESCAPE = '\u001b';

describe('painting a line', () => {
  it('leaves a line that fits as it is', () => {
    expect(paint(['abc', { text: 'def', style: 'red' }], 6, false)).toBe('abcdef');
  });

  it('ends a line that does not fit in an ellipsis at the last column', () => {
    expect(paint(['abc', 'defg', 'hij'], 6, false)).toBe('abcde…');
  });

  it('drops whatever begins beyond the last column', () => {
    expect(paint(['abcdef', 'g'], 6, false)).toBe('abcdef');
    expect(paint(['abc'], 0, false)).toBe('');
  });

  it('colours only where colours are wanted, and counts them as no columns', () => {
    expect(paint([{ text: 'abc', style: 'red' }], 3, false)).not.toContain(ESCAPE);
    expect(paint([{ text: 'abc', style: 'red' }], 3, true)).toBe(`${ESCAPE}[31mabc${ESCAPE}[39m`);
  });

  it('lets nothing through that would move the cursor or take two columns', () => {
    expect(paint(['a\nb\u001b[2Jc', '日本', '🎉'], 40, false)).toBe('a?b?[2Jc????');
  });

  it('keeps accents and the signs of the view', () => {
    const text = 'é ● ◐ ↻ · ✕ ○ ▰ ▱ → …';
    expect(paint([text], 40, false)).toBe(text);
    expect(widthOf([text, { text: 'x' }])).toBe(text.length + 1);
  });
});
