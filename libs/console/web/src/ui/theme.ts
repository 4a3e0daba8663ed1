import { signal } from '@preact/signals';
import { remember, remembered } from './remembered.js';

export type Theme = 'system' | 'light' | 'dark';

function isTheme(value: string | null): value is Theme {
  return value === 'light' || value === 'dark' || value === 'system';
}

const kept = remembered('theme');
const system = matchMedia('(prefers-color-scheme: dark)');
/** Whether the machine prefers dark, for what is drawn and not styled. */
export const systemIsDark = signal(system.matches);
system.addEventListener('change', ({ matches }) => (systemIsDark.value = matches));

export const theme = signal<Theme>(isTheme(kept) ? kept : 'system');

export function chooseTheme(value: string): void {
  theme.value = isTheme(value) ? value : 'system';
  remember('theme', theme.value);
  applyTheme();
}

export function applyTheme(): void {
  if (theme.value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}
