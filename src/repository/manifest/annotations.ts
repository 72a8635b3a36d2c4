import * as v from 'valibot';
import { list } from './values.ts';

const LONGEST_TAG = 64;
export const MOST_TAGS = 32;

/** A word of letters, digits and punctuation: commas and blanks separate tags where a person types several. */
export const tagSchema = v.pipe(
  v.string(),
  v.maxLength(LONGEST_TAG, `must have at most ${LONGEST_TAG} characters`),
  v.check((text) => text.isWellFormed() && /^[\p{L}\p{M}\p{N}._:/@+=-]+$/u.test(text), 'must be a word'),
);

/** Tags and pin of a snapshot, absent where there are none: as in manifests and their headlines. */
export const annotationEntries = {
  tags: v.exactOptional(v.pipe(list(tagSchema), v.maxLength(MOST_TAGS, `must have at most ${MOST_TAGS} items`))),
  /** Pinned: never pruned, and removed on explicit request only. */
  pinned: v.exactOptional(v.literal(true)),
};

/** Parts that may change after the build; no signature covers them. */
export interface Annotations {
  note: string | null;
  tags: string[];
  pinned: boolean;
}

type AnnotationSource = { note: string | null; tags?: string[]; pinned?: true };

export function annotationsOf({ note, tags = [], pinned }: AnnotationSource): Annotations {
  return { note, tags, pinned: pinned ?? false };
}

/** The same with other annotations; those that are off are left out. */
export function withAnnotations<Of extends AnnotationSource>(of: Of, { note, tags, pinned }: Annotations): Of {
  const { tags: _, pinned: __, ...rest } = of;
  return { ...rest, note, ...(tags.length > 0 && { tags }), ...(pinned && { pinned }) } as Of;
}
