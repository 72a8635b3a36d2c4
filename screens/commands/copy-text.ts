import type { SnapshotRow, TargetRow } from '../../src/results/results.ts';
import { shellWord } from '../../src/text/shell-word.ts';
import { cellWidth, fitCells } from '../../src/text/text-width.ts';

export const COPY_QUESTION = 'Copy to the clipboard:';

export const NOTHING_TO_COPY = 'Nothing to copy';

export interface CopyChoice {
  /** Aligned with the others. */
  label: string;
  text: string;
}

interface CopySource {
  target: TargetRow;
  /** The selected one; `null` on the list of targets. */
  snapshot: SnapshotRow | null;
  /** The file given with `--config`. */
  config: string | null;
}

/** Returns the parts of the selection that may be copied. The URLs of a row are without their passwords. */
export function copyChoices({ target, snapshot, config }: CopySource): CopyChoice[] {
  const tool = ['tool', ...(config === null ? [] : ['--config', shellWord(config)])].join(' ');
  const name = shellWord(target.name);
  const command = (verb: string, ...words: string[]): string => [tool, verb, name, ...words].join(' ');
  const ofTarget: [string, string | null][] = [
    ['Source URL', target.src_url],
    ['Destination URL', target.dst_url],
    ['Name', target.name],
    ['Build', target.src_url === null ? null : command('build')],
    ['Load', target.dst_url === null ? null : command('load')],
    ['List', command('target')],
  ];
  const ofSnapshot: [string, string | null][] =
    snapshot === null
      ? []
      : [
          ['Id', snapshot.id],
          ['Destination URL', target.dst_url],
          ['Load', target.dst_url === null ? null : command('load', snapshot.id)],
          ['Verify', command('verify', snapshot.id)],
          ['Compare', command('diff', snapshot.id)],
          ['Remove', command('rm', snapshot.id)],
          ['Source URL', target.src_url],
        ];
  const choices = (snapshot === null ? ofTarget : ofSnapshot).flatMap(([label, text]) =>
    text === null ? [] : [{ label, text }],
  );
  const widest = Math.max(0, ...choices.map(({ label }) => cellWidth(label)));
  return choices.map(({ label, text }) => ({ label: fitCells(label, widest), text }));
}
