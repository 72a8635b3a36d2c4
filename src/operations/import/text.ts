import type { Fact } from '../../presentation/shapes/fact.ts';
import type { Question } from '../../presentation/shapes/question.ts';
import { summaryOf } from '../../presentation/shapes/summary.ts';
import { lackingLines } from '../../presentation/snapshot.ts';
import type { ImportPlan, ImportResult } from '../../results/results.ts';
import type { RunSummary } from '../../state/runs.ts';
import { formatBytes, formatNumberOf } from '../../text/format.ts';

const FORMATS: Record<ImportPlan['format'], string> = {
  snapshot: 'exported snapshot',
  custom: 'archive of pg_dump',
  directory: 'folder of pg_dump',
  tar: 'tar archive of pg_dump',
  sql: 'SQL dump',
};

const LEFT_OUT = 'owners, grants, definers, event triggers, publications, subscriptions, settings of the database';

export function importQuestion(plan: ImportPlan): Question {
  const { file, target, format, product, server_version, bytes, place } = plan;
  const title = `Import ${file} into ${target}`;
  const facts: Fact[] = [
    { name: 'Format', value: `${FORMATS[format]}, ${formatBytes(bytes)}` },
    { name: 'Server', value: `${product}${server_version === null ? ', version unknown' : ` ${server_version}`}` },
    ...(place === null
      ? []
      : [
          { name: 'Restored in', value: `${place}, which is removed` },
          { name: 'Sanitized', value: 'no: the snapshot is an original' },
          { name: 'Left out', value: LEFT_OUT },
        ]),
  ];
  const rest = { facts, steps: [], warnings: [], typed: null, harmless: true };
  return { title, consequence: 'No database is changed.', ask: `${title}?`, go: 'Import', ...rest };
}

export function importSummary(result: ImportResult): RunSummary {
  const { id, target, tables, rows, dump, left_out = [] } = result;
  const from = dump ? ` from ${dump.file}` : '';
  const contents = `${formatNumberOf(tables, 'table')}, ${formatNumberOf(rows, 'row')}`;
  return summaryOf(`Imported snapshot ${id} of ${target}${from}: ${contents}`, {
    snapshot: id,
    details: [
      ...(left_out.length === 0 ? [] : [`Not in the snapshot: ${left_out.join(', ')}`]),
      ...lackingLines([{ ...result, index: 0, where: ['local'] }]),
    ],
  });
}
