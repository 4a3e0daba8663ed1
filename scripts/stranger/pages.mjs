import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../exclusive.mjs';

/**
 * What a stranger copies: the first page, and the one that it leads to.
 * @returns {{ redis: string, install: string, example: string, main: string, commands: string[], bundles: string[], console: { install: string, token: string, remote: string, diff: string } }}
 */
export function pages() {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const guide = readFileSync(join(root, 'docs/getting-started.md'), 'utf8');
  const deploying = readFileSync(join(root, 'docs/deploying.md'), 'utf8');
  const [commands = '', remote = ''] = blocks(section(guide, 'The page'), 'sh');
  const [install, token] = commands.split('\n');
  return {
    redis: /`(docker run [^`]*)`/.exec(guide)?.[1] ?? '',
    install: block(readme, 'sh').trim(),
    example: block(readme, 'ts'),
    main: blocks(section(guide, 'Declare a cron'), 'ts')[1] ?? '',
    commands: block(section(guide, 'See a run'), 'sh').trim().split('\n'),
    bundles: commandsIn(block(section(deploying, 'One file'), 'sh')),
    console: { install, token, remote: remote.trim(), diff: block(section(guide, 'The page'), 'diff') },
  };
}

function section(markdown, heading) {
  const [, text] = markdown.split(`\n## ${heading}\n`);
  if (text === undefined) throw new Error(`Expected a heading "${heading}" on the page.`);
  return text.split('\n## ')[0];
}

/** As a shell reads them: a backslash at the end goes on in the next. */
function commandsIn(text) {
  return text
    .replaceAll(/\\\n\s*/g, '')
    .trim()
    .split('\n');
}

function blocks(markdown, language) {
  return [...markdown.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, text]) => text);
}

function block(markdown, language) {
  const [first] = blocks(markdown, language);
  if (first === undefined)
    throw new Error(`Expected a block of ${language} in the README and the sections it leads to.`);
  return first;
}

/**
 * A diff as documentation shows it, without line numbers: lines before the first removed one go to the top.
 * @param {string} text
 * @param {string} diff
 */
export function edited(text, diff) {
  const lines = diff.trimEnd().split('\n');
  const removed = lines.filter((line) => line.startsWith('-')).map((line) => line.slice(1));
  const at = lines.findIndex((line) => line.startsWith('-'));
  const old = `${removed.join('\n')}\n`;
  if (text.split(old).length !== 2) throw new Error(`Expected exactly once, to be replaced:\n${old}`);
  return added(lines.slice(0, at)) + text.replace(old, () => added(lines.slice(at)));
}

function added(lines) {
  const texts = lines.filter((line) => line.startsWith('+')).map((line) => `${line.slice(1)}\n`);
  return texts.join('');
}

/** @param {string} text */
export function linesIn(text) {
  return text.split('\n').filter((line) => line.trim() !== '').length;
}
