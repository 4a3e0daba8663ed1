import { readFileSync } from 'node:fs';
import { array, assert, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkFormat, FIRST_FORMAT, FORMAT, FormatError, formatToWrite, isReadable } from './format.js';

const builds = integer({ min: FIRST_FORMAT, max: FIRST_FORMAT + 50 });

describe('a format', () => {
  it('is read by its own build, the build before, and every later one', () => {
    const isRead = property(builds, builds, (format, own) => isReadable(format, own) === own >= format - 1);
    assert(isRead);
  });

  it('that no release has written is refused with one sentence', () => {
    for (const wrong of [FIRST_FORMAT - 1, FORMAT + 2, 2.5, '', 'x', undefined]) {
      expect(() => checkFormat('a run record', wrong)).toThrow(FormatError);
    }
    expect(() => checkFormat('a run record', FORMAT + 2, '9 c 1 0')).toThrow(
      `Expected a run record of format ${FIRST_FORMAT} to ${FORMAT + 1}, got "9 c 1 0". Upgrade this process.`,
    );
    checkFormat('a run record', String(FORMAT + 1));
  });

  it('is the lowest of all live members, and never above the own', () => {
    assert(
      property(builds, array(builds), (own, live) => {
        const format = formatToWrite(live, own);
        expect([own, ...live]).toContain(format);
        for (const member of [own, ...live]) expect(format).toBeLessThanOrEqual(member);
      }),
    );
  });

  it('is the same in Lua', () => {
    const text = readFileSync(new URL('../redis/lua/readable-formats.lua', import.meta.url), 'utf8');
    const [, digits = ''] = /^local READABLE = '\[(\d+)\]'$/m.exec(text) ?? [];
    const read = Array.from({ length: 10 }, (_, format) => format).filter((format) => isReadable(format));
    expect(digits).toBe(read.join(''));
  });
});
