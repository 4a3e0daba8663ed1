import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { jobsIn } from '@fencepost/testing';
import type { ExportedJobs } from '@fencepost/testing';
import { AppError } from './app-error.js';

/** @throws {AppError} in one sentence, whatever is wrong with it */
export async function loadApp(file: string): Promise<ExportedJobs> {
  const named = JSON.stringify(file);
  const exports = await imported(file).catch((error: unknown) => {
    throw new AppError(`Expected a module that Node can import, got ${named}: ${sentence(error)}`);
  });
  return jobsIn(exports).catch((error: unknown) => {
    throw new AppError(`Of ${named} no jobs can be made: ${sentence(error)}`);
  });
}

async function imported(file: string): Promise<object> {
  return (await import(/* @vite-ignore */ pathToFileURL(resolve(file)).href)) as object;
}

/** The first line: the rest of what Nest or a module says is for whoever has its source before them. */
export function sentence(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return /[.!?]$/.test(line) ? line : `${line}.`;
}
