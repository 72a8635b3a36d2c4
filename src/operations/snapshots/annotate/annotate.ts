import * as v from 'valibot';
import {
  type Annotations,
  annotationsOf,
  MOST_TAGS,
  tagSchema,
  withAnnotations,
} from '../../../repository/manifest/annotations.ts';
import type { SnapshotRow } from '../../../results/results.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { localRepository } from '../local-repository.ts';
import { findSnapshot, type SnapshotRequest } from '../snapshots.ts';

export interface AnnotateRequest extends SnapshotRequest {
  /** An empty text removes the note. */
  note?: string;
  addTags?: string[];
  removeTags?: string[];
  pinned?: boolean;
}

/** Changes the note, the tags or the pin of a snapshot, wherever it is. */
export async function annotate(context: Context, request: AnnotateRequest): Promise<SnapshotRow> {
  const { note, addTags = [], removeTags = [], pinned } = request;
  for (const tag of addTags) if (!v.is(tagSchema, tag)) throw tagInvalid(tag);
  const { manifest, row, local, remote } = await findSnapshot(context, request);
  const tags = [...new Set([...(row.tags ?? []), ...addTags])].filter((tag) => !removeTags.includes(tag)).sort();
  if (tags.length > MOST_TAGS) throw tooManyTags(row);
  const changed: Partial<Annotations> = {
    ...(note !== undefined && { note: note.trim() || null }),
    ...(addTags.length + removeTags.length > 0 && { tags }),
    ...(pinned !== undefined && { pinned }),
  };
  // Of the row, not of the manifest: it may be pinned on the other side.
  const annotations = { ...annotationsOf(row), ...changed };
  const annotated = withAnnotations(manifest, annotations);
  if (local) await localRepository(context).write(annotated);
  await remote?.annotate(annotated, changed);
  return withAnnotations(row, annotations);
}

function tagInvalid(tag: string): UserError {
  return new UserError('invalid_value', `Not a valid tag: ${JSON.stringify(tag.slice(0, 80))}`, {
    hint: 'A tag has at most 64 letters, digits and . _ : / @ + = -',
  });
}

function tooManyTags({ id }: SnapshotRow): UserError {
  return new UserError('invalid_value', `Snapshot ${id} would have more than ${MOST_TAGS} tags`, {
    hint: 'Remove some: tool tag TARGET SNAPSHOT --remove TAG',
  });
}
