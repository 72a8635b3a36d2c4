import type { SnapshotRow } from '../../src/results.ts';

/** The engines as their makers write them. */
export const ENGINE_NAMES: Record<SnapshotRow['engine'], string> = { postgres: 'PostgreSQL', mysql: 'MySQL' };
