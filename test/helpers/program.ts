import { join } from 'node:path';

/** The bundle, as users have it: it starts four times as fast as the sources. Vitest's set-up makes it. */
export const PROGRAM = join(import.meta.dirname, '../../dist/tool.js');
