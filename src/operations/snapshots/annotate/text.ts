import { briefName, snapshotName, tagsText } from '../../../presentation/snapshot.ts';
import type { SnapshotRow } from '../../../results/results.ts';
import { formatTime } from '../../../text/format.ts';
import { printable } from '../../../text/printable.ts';

const ANNOTATED = { pin: 'Pinned', unpin: 'Unpinned' };

/** `Pinned snapshot 0 of app (8c41f2ab RAW)`, or its tags or note. */
export function annotatedText(what: 'pin' | 'unpin' | 'tag' | 'note', target: string, snapshot: SnapshotRow): string {
  const { tags = [], note } = snapshot;
  const name = snapshotName(target, snapshot);
  if (what === 'tag') return tags.length === 0 ? `No tags: ${name}` : `Tags of ${name}: ${tagsText(tags)}`;
  if (what === 'note') return note === null ? `Note removed: ${name}` : `Note of ${name}: ${printable(note)}`;
  return `${ANNOTATED[what]} ${name}`;
}

export const ANNOTATION_FIELDS = {
  note: { label: 'Note:', placeholder: 'its purpose' },
  tags: { label: 'Tags:', placeholder: 'words, such as a release' },
};

export function noteSaved(text: string): string {
  return text === '' ? 'Note removed' : 'Note saved';
}

export function noteAbout(target: string, snapshot: SnapshotRow): string {
  return `Snapshot ${briefName(snapshot)} of ${target}, created ${formatTime(snapshot.created_at)}`;
}
