import type { Fact } from '../../components/facts.tsx';
import { hiddenText } from '../../src/results/hidden-objects.ts';
import { programText } from '../../src/results/program-text.ts';
import type { SnapshotRow } from '../../src/results/results.ts';
import { SIGNATURE_WORDS, signatureText } from '../../src/results/signature-text.ts';
import { formatBytes, formatNumberOf, formatTime } from '../../src/text/format.ts';
import { ENGINE_NAMES } from '../app/engine-names.ts';

const PLACES = { local: 'this machine', remote: 'the bucket' };

export function snapshotFacts(row: SnapshotRow, destination: string | null): Fact[] {
  const contents = `${formatNumberOf(row.tables, 'table')}, ${formatNumberOf(row.rows, 'row')} in ${row.schemas.join(', ')}`;
  return [
    { name: 'Taken', value: `${formatTime(row.created_at)} from ${ENGINE_NAMES[row.engine]} ${row.server_version}` },
    { name: 'Contents', value: contents },
    ...(row.program === undefined ? [] : [{ name: 'Program', value: programText(row.program) }]),
    ...(row.hidden ? [{ name: 'Hidden', value: hiddenText(row.hidden), tone: 'caution' as const }] : []),
    { name: 'Size', value: `${formatBytes(row.size_bytes)}; this one added ${formatBytes(row.stored_bytes)}` },
    {
      name: 'Stored on',
      value: `${row.where.map((place) => PLACES[place]).join(' and ')}; signature: ${SIGNATURE_WORDS[row.signature.state]}`,
    },
    { name: 'Note', value: row.note ?? 'none: n writes one' },
    { name: 'Loads into', value: destination ?? 'no destination is configured' },
    // Last, where a low window cuts it: the short form is above.
    { name: 'Signature', value: signatureText(row.signature) },
  ];
}
