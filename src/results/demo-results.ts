import * as v from 'valibot';
import { loadResult } from './load-results.ts';
import { snapshotRow, verifyResult } from './results.ts';
import { sanitizeResult } from './review/sanitize-results.ts';
import { subsetResult } from './subset-results.ts';

export const demoTour = v.object({
  built: snapshotRow,
  again: snapshotRow,
  verified: verifyResult,
  loaded: loadResult,
  reloaded: loadResult,
  undone: loadResult,
  sanitized: sanitizeResult,
  subset: subsetResult,
});

export type Tour = v.InferOutput<typeof demoTour>;
