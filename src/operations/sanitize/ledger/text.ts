import type { ClassifyResult, LedgerCheck, LedgerCounts } from '../../../results/review/ledger-results.ts';
import { openItemText } from '../../../sanitize/ledger/ledger.ts';
import { formatNumberOf } from '../../../text/format.ts';
import { shell } from '../../../text/shell-word.ts';

/** One line for each open column, then the counts. */
export function classifyText({ file, added, counts, open }: ClassifyResult): string {
  const written = `Wrote ${file}: ${formatNumberOf(added, 'new entry', 'new entries')}; ${countsText(counts)}`;
  const next =
    open.length === 0 ? [] : ['Classify the open ones in the file: changed, empty, excluded, or { kept: REASON }'];
  return [...open.map(openItemText), written, ...next].join('\n');
}

function countsText({ changed, kept, empty, excluded, open }: LedgerCounts): string {
  return `${changed} changed, ${kept} kept, ${empty} empty, ${excluded} excluded, ${open} open`;
}

export function ledgerCheckText({ target, file, items, open }: LedgerCheck): string {
  if (open.length === 0) return `All ${formatNumberOf(items, 'column')} of ${target} are classified in ${file}`;
  const without = file === null ? ['There is no sanitize.lock.yml yet'] : [];
  return [
    ...open.map(openItemText),
    ...without,
    `${formatNumberOf(open.length, 'column')} of ${target} open: ${shell`tool sanitize classify ${target}`}`,
  ].join('\n');
}
