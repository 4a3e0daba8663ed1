import { readTexts } from '@fencepost/lease/internal/texts';

/** The Lua in this folder. The build puts the texts here. */
export const TEXTS = readTexts(import.meta.url);
