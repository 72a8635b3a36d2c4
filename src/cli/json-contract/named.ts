import { destination, loadResult } from './load-parts.ts';
import { snapshot, target, targetInfo } from './parts.ts';
import { coverage } from './sanitize-parts.ts';

/** Shapes with a definition of their own in the JSON Schema. */
export const NAMED = {
  snapshot,
  destination,
  target,
  target_info: targetInfo,
  coverage,
  load_result: loadResult,
};
