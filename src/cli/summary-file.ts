import { resolve } from 'node:path';
import type { MarkdownSummary } from '../operations/write-summary-text.ts';
import type { Context } from '../runtime/context.ts';
import type { Invocation, OptionSpec } from './command.ts';

export const SUMMARY = {
  flags: '--summary <file>',
  description: 'write tables, rows, sizes and sanitization coverage to a Markdown file',
} as const satisfies OptionSpec;

export interface SummaryFile {
  /** With the tables of the snapshot, unless others are given. */
  write(made: Omit<MarkdownSummary, 'durationMs' | 'tables'> & Partial<Pick<MarkdownSummary, 'tables'>>): Promise<void>;
}

/** For `--summary`, refused now where the file cannot be written; `null` without it. */
export async function openSummary(
  { options, cwd }: Pick<Invocation<unknown, { summary?: string }>, 'options' | 'cwd'>,
  context: Context,
): Promise<SummaryFile | null> {
  if (options.summary === undefined) return null;
  const { checkSummaryFile, writeSummary } = await import('../operations/write-summary.ts');
  const path = await checkSummaryFile(resolve(cwd, options.summary));
  const started = context.clock().getTime();
  return {
    async write(made) {
      const durationMs = context.clock().getTime() - started;
      const { markdownSummary } = await import('../operations/write-summary-text.ts');
      const { listTables } = await import('../operations/snapshots/snapshot-tables.ts');
      const { target, snapshot } = made;
      const tables = made.tables ?? (snapshot ? await listTables(context, { target, snapshot: snapshot.id }) : []);
      await writeSummary(path, markdownSummary({ ...made, tables, durationMs }));
    },
  };
}
