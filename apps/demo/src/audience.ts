import type { WriteStream } from 'node:tty';
import type { Happening } from './happening.js';
import type { Scene } from './scene.js';
import { timeOfDay } from './words.js';
import { View } from './view.js';

/** Who watches: somebody at a terminal, who sees a living view, or a file or a pipe, which gets lines. */
export interface Audience {
  /** How often a new picture is worth drawing, milliseconds; `null`: pictures are not wanted. */
  readonly frameMs: number | null;
  tell(happening: Happening): void;
  show(scene: Scene): void;
  /** Nothing is drawn any more; what is written next stands below. */
  close(): void;
}

const FRAME_MS = 150;

export function viewer(stream: WriteStream): Audience {
  const view = new View(stream);
  return { frameMs: FRAME_MS, tell: () => {}, show: (scene) => view.show(scene), close: () => view.close() };
}

export function listener(write: (line: string) => void): Audience {
  const tell = ({ at, kind, text }: Happening) => write(`${timeOfDay(at)} ${kind.padEnd(8)} ${text}`);
  return { frameMs: null, tell, show: () => {}, close: () => {} };
}
