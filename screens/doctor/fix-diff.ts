import { type DiffLine, diffTexts } from '../../src/config/edit/diff-lines.ts';
import type { FixPlace } from '../place.ts';

/** The lines that a fix changes in the file; none where it changes something else. */
export function diffOf({ found }: FixPlace): DiffLine[] {
  return found?.change.kind === 'text' ? diffTexts(found.change.base, found.change.text) : [];
}
