import type { SnapshotRow } from '../../src/results/results.ts';

export const ENGINE_NAMES: Record<SnapshotRow['engine'], string> = { postgres: 'PostgreSQL', mysql: 'MySQL' };
